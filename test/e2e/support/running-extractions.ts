import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { SendTaskFailureCommand } from '@aws-sdk/client-sfn';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { expect, inject } from 'vitest';
import type { Plan } from '../../sandbox/plan-schemas.ts';
import { eventually } from '../../support/eventually.ts';
import { aws } from './aws.ts';
import { backdate } from './backdate.ts';
import { type Body, extract, plannedUsername, provider, requestFor } from './call-extractions.ts';
import { inStatus } from './records.ts';

const { outputs } = inject('cosecha');

/** The item of a task in the table Tasks. */
export const taskItem = async (taskId: string) => {
  const { Item } = await aws.dynamo.send(
    new GetItemCommand({
      TableName: outputs.TasksTableName,
      Key: marshall({ taskId }),
      ConsistentRead: true,
    }),
  );
  return Item === undefined ? undefined : unmarshall(Item);
};

/** Waits until start-task has linked the task, and returns its item. */
const linkedItem = (extractionId: string, taskId: string) =>
  eventually(async () => {
    const item = await taskItem(taskId);
    expect(item).toMatchObject({ extractionId, callbackToken: expect.any(String) });
    return item;
  });

/**
 * Requests an extraction and waits until start-task has linked its task. A delivery from now on settles it by webhook; an
 * earlier one would be found by start-task. The username's plan must keep the task running (`durationMs: null`).
 */
export const running = async (username: string, more: Body = {}) => {
  const extractionId = await extract(requestFor(username, more));
  const { taskId = '' } = await inStatus(extractionId, 'RUNNING');
  await linkedItem(extractionId, taskId);
  return { extractionId, taskId };
};

/** Runs an extraction whose task ends once it is linked, so that its webhook settles it. */
export const settledByWebhook = async (plan: Plan = {}, more: Body = {}) => {
  const username = await plannedUsername({ ...plan, durationMs: null });
  const { extractionId, taskId } = await running(username, more);
  await provider.finish(taskId);
  return { username, extractionId, taskId };
};

/**
 * Ends the machine's wait for the webhook as its timeout would: the machine goes on to poll. The real timeout is tested
 * in outage.test.ts.
 */
export const endWebhookWait = async (extractionId: string): Promise<void> => {
  const { taskId = '' } = await inStatus(extractionId, 'RUNNING');
  const item = await linkedItem(extractionId, taskId);
  await aws.stepFunctions.send(
    new SendTaskFailureCommand({ taskToken: String(item?.callbackToken), error: 'States.Timeout' }),
  );
};

/** Lets a running extraction pass its deadline, and returns the TIMED_OUT record. */
export const timedOut = async (extractionId: string) => {
  const { method } = await inStatus(extractionId, 'RUNNING');
  await backdate(extractionId, 'deadlineAt');
  if (method === 'credentials') await endWebhookWait(extractionId);
  return inStatus(extractionId, 'TIMED_OUT');
};
