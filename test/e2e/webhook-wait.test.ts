import { DescribeStateMachineCommand, UpdateStateMachineCommand } from '@aws-sdk/client-sfn';
import { expect, inject, test } from 'vitest';
import { aws } from './support/aws.ts';
import { historyOf, transitionsIn } from './support/execution.ts';
import { extract, plannedUsername, requestFor } from './support/extractions.ts';
import { closed } from './support/records.ts';

const stateMachineArn = inject('cosecha').outputs.StateMachineArn ?? '';

/** Sets how long executions that start from now on wait for the webhook. Running ones keep their definition. */
const setWebhookWait = async (definition: string, seconds: number): Promise<void> => {
  const machine = JSON.parse(definition) as { States: { StartTask: { TimeoutSeconds: number } } };
  machine.States.StartTask.TimeoutSeconds = seconds;
  await aws.stepFunctions.send(
    new UpdateStateMachineCommand({ stateMachineArn, definition: JSON.stringify(machine) }),
  );
};

/** Long enough for start-task to link the task on a slow machine. Otherwise the state ends before the start. */
const webhookWaitSeconds = 20;

test('the machine polls when no webhook arrives within its wait', async ({ onTestFinished }) => {
  const { definition = '' } = await aws.stepFunctions.send(
    new DescribeStateMachineCommand({ stateMachineArn }),
  );
  onTestFinished(async () => {
    await aws.stepFunctions.send(new UpdateStateMachineCommand({ stateMachineArn, definition }));
  });
  await setWebhookWait(definition, webhookWaitSeconds);
  const username = await plannedUsername({ webhook: { enabled: false } });
  const extractionId = await extract(requestFor(username));

  expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED', settledBy: 'reconcile' });
  const history = await historyOf(extractionId);
  const failures = history.flatMap(({ taskFailedEventDetails, taskTimedOutEventDetails }) => [
    ...(taskFailedEventDetails === undefined ? [] : [taskFailedEventDetails.error]),
    ...(taskTimedOutEventDetails === undefined ? [] : [taskTimedOutEventDetails.error]),
  ]);
  expect(failures[0]).toBe('States.Timeout');
  expect(transitionsIn(history)).toBe(2);
});
