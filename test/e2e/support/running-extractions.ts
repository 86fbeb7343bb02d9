import { expect, inject } from 'vitest';
import { dynamoTaskStore } from '#lib/aws/dynamo-task-store.ts';
import type { Plan } from '../../../sandbox/plan-schemas.ts';
import { endWait } from '../../../tools/acceptance/move-time.ts';
import { eventually } from '../../support/eventually.ts';
import { aws } from './aws.ts';
import { moveTimes } from './backdate.ts';
import { type Body, extractWith, provider } from './call-extractions.ts';
import { inStatus } from './records.ts';

const { outputs } = inject('cosecha');

/** The item of a task in the table Tasks. */
export const taskItem = dynamoTaskStore(aws.dynamo, outputs.TasksTableName ?? '', () => new Date()).get;

/** Waits until start-task has linked the task, and returns its item. */
const linkedItem = (extractionId: string, taskId: string) =>
  eventually(async () => {
    const item = await taskItem(taskId);
    expect(item).toMatchObject({ extractionId, callbackToken: expect.any(String) });
    return item;
  });

/**
 * Requests an extraction of a new user and waits until start-task has linked its task, which runs until the test ends it. A
 * delivery from now on settles it by webhook; an earlier one would be found by start-task.
 */
export const running = async (plan: Plan = {}, more: Body = {}) => {
  const { username, extractionId } = await extractWith({ ...plan, durationMs: null }, more);
  const { taskId = '' } = await inStatus(extractionId, 'RUNNING');
  await linkedItem(extractionId, taskId);
  return { username, extractionId, taskId };
};

/** Nothing reconciles it: the machine waits for a webhook that does not come, and it is not due. */
export const quietlyRunning = (more: Body = {}) => running({ webhook: { enabled: false } }, more);

/** Runs an extraction whose task ends once it is linked, so that its webhook settles it. */
export const settledByWebhook = async (plan: Plan = {}, more: Body = {}) => {
  const one = await running(plan, more);
  await provider.finish(one.taskId);
  return one;
};

/**
 * Ends the machine's wait for the webhook: the machine goes on to poll. The real timeout is tested
 * in outage.test.ts.
 */
export const endWebhookWait = async (extractionId: string): Promise<void> => {
  const { taskId = '' } = await inStatus(extractionId, 'RUNNING');
  const { callbackToken = '' } = (await linkedItem(extractionId, taskId)) ?? {};
  await endWait(aws.stepFunctions)(callbackToken);
};

/** Lets a running extraction pass its deadline, and returns the TIMED_OUT record. */
export const timedOut = async (extractionId: string) => {
  const { method } = await inStatus(extractionId, 'RUNNING');
  // Not before its request, which the audit would find.
  await moveTimes(extractionId, { deadlineAt: new Date().toISOString() });
  if (method === 'credentials') await endWebhookWait(extractionId);
  return inStatus(extractionId, 'TIMED_OUT');
};
