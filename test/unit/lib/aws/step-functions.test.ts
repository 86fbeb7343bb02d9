import {
  ExecutionAlreadyExists,
  InvalidToken,
  type SFNClient,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { failTask, startExecutionOf, wakeMachine } from '../../../../lib/aws/step-functions.ts';
import { fail, stubClient } from '../../../support/aws/stub-client.ts';

const machine = 'arn:aws:states:eu-west-1:111122223333:stateMachine:Cosecha-prod-extractions';
const input = { extractionId: 'extraction-1', requestId: 'request-1' };
const failing = (error: unknown) => stubClient<SFNClient>(() => fail(error)).client;
const about = { message: 'about token-1', $metadata: {} };
const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });

test('an execution of that name which exists already is success', async () => {
  const exists = new ExecutionAlreadyExists({ message: 'exists', $metadata: {} });
  await startExecutionOf(failing(exists), machine)(input);
});

test('an execution that could not be started for any other reason is thrown, so that the caller tries again', async () => {
  await expect(startExecutionOf(failing(throttled), machine)(input)).rejects.toBe(throttled);
});

test.each([
  ['timed out', new TaskTimedOut(about), 'gone'],
  ['is unknown', new TaskDoesNotExist(about), 'gone'],
  ['is not one of theirs', new InvalidToken(about), 'invalid-token'],
])('waking the machine returns that a token %s, and does not throw', async (_what, error, outcome) => {
  expect(await wakeMachine(failing(error))('token-1', 'extraction-1')).toBe(outcome);
});

test('waking the machine throws a throttle or a 5xx, so that the provider delivers again', async () => {
  await expect(wakeMachine(failing(throttled))('token-1', 'extraction-1')).rejects.toBe(throttled);
});

test('failing the state takes a token that timed out for done, and throws what else fails', async () => {
  await failTask(failing(new TaskTimedOut(about)))('token-1', 'ProviderBusy', '');
  // @ts-expect-error Step Functions reserves names that begin with "States.".
  await failTask(failing(new TaskTimedOut(about)))('token-1', 'States.Timeout', '');
  await expect(failTask(failing(throttled))('token-1', 'ProviderBusy', '')).rejects.toBe(throttled);
});
