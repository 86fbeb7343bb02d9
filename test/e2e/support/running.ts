import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { SendTaskFailureCommand } from '@aws-sdk/client-sfn';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { expect, inject } from 'vitest';
import { aws } from './aws.ts';
import { backdate } from './backdate.ts';
import { eventually } from './eventually.ts';
import { extract, requestFor } from './extractions.ts';
import { inStatus } from './records.ts';

const { outputs } = inject('cosecha');

/** What the private table says of a task. */
export const taskRow = async (taskId: string) => {
  const { Item } = await aws.dynamo.send(
    new GetItemCommand({
      TableName: outputs.TasksTableName,
      Key: marshall({ taskId }),
      ConsistentRead: true,
    }),
  );
  return Item === undefined ? undefined : unmarshall(Item);
};

/** The row of an extraction's task, once start-task has linked it. */
const linkedRow = (extractionId: string, taskId: string) =>
  eventually(async () => {
    const row = await taskRow(taskId);
    expect(row).toMatchObject({ extractionId, callbackToken: expect.any(String) });
    return row;
  });

/** An extraction whose task runs until the test ends it, and is linked already. */
export const running = async (username: string) => {
  const extractionId = await extract(requestFor(username));
  const { taskId = '' } = await inStatus(extractionId, 'RUNNING');
  await linkedRow(extractionId, taskId);
  return { extractionId, taskId };
};

/**
 * Ends the machine's wait for the webhook now, as the state's timeout would: the machine goes on to poll. Where the real
 * one ends is in webhook-wait.test.ts.
 */
export const endWebhookWait = async (extractionId: string): Promise<void> => {
  const { taskId = '' } = await inStatus(extractionId, 'RUNNING');
  const row = await linkedRow(extractionId, taskId);
  await aws.stepFunctions.send(
    new SendTaskFailureCommand({ taskToken: String(row?.callbackToken), error: 'States.Timeout' }),
  );
};

/** Has a running extraction pass its deadline. */
export const timedOut = async (extractionId: string) => {
  const { method } = await inStatus(extractionId, 'RUNNING');
  await backdate(extractionId, 'deadlineAt');
  if (method === 'credentials') await endWebhookWait(extractionId);
  return inStatus(extractionId, 'TIMED_OUT');
};
