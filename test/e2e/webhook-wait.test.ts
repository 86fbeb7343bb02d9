import { DescribeStateMachineCommand, UpdateStateMachineCommand } from '@aws-sdk/client-sfn';
import { expect, inject, test } from 'vitest';
import { aws } from './support/aws.ts';
import { historyOf, transitionsIn } from './support/execution.ts';
import { extract, plannedUsername, requestFor } from './support/extractions.ts';
import { closed } from './support/records.ts';

const stateMachineArn = inject('cosecha').outputs.StateMachineArn ?? '';

/** Has executions that start from now on wait this long for the webhook; those that run keep their definition. */
const setWebhookWait = async (definition: string, seconds: number): Promise<void> => {
  const machine = JSON.parse(definition) as { States: { StartTask: { TimeoutSeconds: number } } };
  machine.States.StartTask.TimeoutSeconds = seconds;
  await aws.stepFunctions.send(
    new UpdateStateMachineCommand({ stateMachineArn, definition: JSON.stringify(machine) }),
  );
};

test('a webhook that does not come in the time that the machine waits for it is made up for by the poll', async () => {
  const { definition = '' } = await aws.stepFunctions.send(
    new DescribeStateMachineCommand({ stateMachineArn }),
  );
  await setWebhookWait(definition, 5);
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
  await aws.stepFunctions.send(new UpdateStateMachineCommand({ stateMachineArn, definition }));
});
