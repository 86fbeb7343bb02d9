import { ExecutionDoesNotExist, SFNClient } from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { readExecution } from '../../../../../tools/cli/aws/read-execution.ts';
import { at, iso } from '../../../../support/extraction-fixtures.ts';
import { fail, stubClient } from '../../../../support/stub-client.ts';

/** The SDK's paginators take instances of the client's class only. */
const machine = (answer: () => unknown) => {
  const { client, sent } = stubClient<SFNClient>(answer);
  return { client: Object.setPrototypeOf(client, SFNClient.prototype) as SFNClient, sent };
};

test('a history is read without inputs and outputs, and an error without its stack', async () => {
  const cause = JSON.stringify({ errorType: 'NotYet', errorMessage: 'still-running', trace: ['secret'] });
  const { client, sent } = machine(() => ({
    events: [
      { timestamp: at(0), type: 'ExecutionStarted', executionStartedEventDetails: { input: 'secret' } },
      { timestamp: at(1), type: 'TaskStateEntered', stateEnteredEventDetails: { name: 'StartTask' } },
      {
        timestamp: at(2),
        type: 'TaskScheduled',
        taskScheduledEventDetails: { parameters: 'secret', timeoutInSeconds: 600 },
      },
      { timestamp: at(3), type: 'TaskFailed', taskFailedEventDetails: { error: 'NotYet', cause } },
      { timestamp: at(4), type: 'TaskTimedOut', taskTimedOutEventDetails: { error: 'States.Timeout' } },
    ],
  }));
  expect(await readExecution(client, 'arn')).toEqual({
    startedAt: iso(0),
    events: [
      { at: iso(0), type: 'ExecutionStarted' },
      { at: iso(1), type: 'TaskStateEntered', state: 'StartTask' },
      { at: iso(2), type: 'TaskScheduled', timeoutSeconds: 600 },
      { at: iso(3), type: 'TaskFailed', error: 'NotYet', message: 'still-running' },
      { at: iso(4), type: 'TaskTimedOut', error: 'States.Timeout' },
    ],
  });
  expect(sent[0]?.input).toMatchObject({ includeExecutionData: false });
});

test('an execution that does not exist has no history', async () => {
  const { client } = machine(() => fail(new ExecutionDoesNotExist({ message: '', $metadata: {} })));
  expect(await readExecution(client, 'arn')).toBeUndefined();
});
