import {
  ExecutionAlreadyExists,
  InvalidToken,
  type SFNClient,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { failTask, startExecutionOf, wakeMachine } from '#lib/aws/step-functions.ts';
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

const startsWith = async (...errors: readonly Error[]) => {
  let calls = 0;
  const { client } = stubClient<SFNClient>(() => {
    const error = errors[calls];
    calls += 1;
    return error === undefined ? {} : fail(error);
  });
  const outcome = await startExecutionOf(
    client,
    machine,
  )(input).then(
    () => 'started',
    (error: unknown) => error,
  );
  return { outcome, calls };
};

test.each(['ThrottlingException', 'ExecutionLimitExceeded'])(
  'a start that is throttled is not repeated: %s',
  async (name) => {
    const error = Object.assign(new Error('slow down'), { name });
    expect(await startsWith(error)).toEqual({
      outcome: expect.objectContaining({ name: 'Throttled', cause: error }),
      calls: 1,
    });
  },
);

test('a start whose connection broke is repeated, and thrown after four tries', async () => {
  const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  expect(await startsWith(reset)).toEqual({ outcome: 'started', calls: 2 });
  expect(await startsWith(reset, reset, reset, reset)).toEqual({ outcome: reset, calls: 4 });
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
