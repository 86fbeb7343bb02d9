import { InvalidToken, type SFNClient, TaskDoesNotExist, TaskTimedOut } from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { wakeMachine } from '../../../../lib/aws/wake-machine.ts';
import { fail, stubClient } from './stub-client.ts';

const answering = (error: unknown) => wakeMachine(stubClient<SFNClient>(() => fail(error)).client);
const about = { message: 'about token-1', $metadata: {} };

test('the token is answered with the extractionId and nothing else', async () => {
  const { client, sent } = stubClient<SFNClient>(() => ({}));
  expect(await wakeMachine(client)('token-1', 'extraction-1')).toBe('woken');
  expect(sent).toEqual([
    {
      name: 'SendTaskSuccessCommand',
      input: { taskToken: 'token-1', output: '{"extractionId":"extraction-1"}' },
    },
  ]);
});

test.each([
  ['timed out', new TaskTimedOut(about), 'gone'],
  ['is unknown', new TaskDoesNotExist(about), 'gone'],
  ['is not one of theirs', new InvalidToken(about), 'invalid-token'],
])('a token that %s is told, not thrown', async (_what, error, outcome) => {
  expect(await answering(error)('token-1', 'extraction-1')).toBe(outcome);
});

test('a throttle or a 5xx is thrown, so that the provider delivers again', async () => {
  const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
  await expect(answering(throttled)('token-1', 'extraction-1')).rejects.toBe(throttled);
});
