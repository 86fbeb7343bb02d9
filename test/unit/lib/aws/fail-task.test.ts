import { InvalidToken, type SFNClient, TaskDoesNotExist, TaskTimedOut } from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { failTask } from '../../../../lib/aws/fail-task.ts';
import { fail, stubClient } from './stub-client.ts';

const about = { message: 'about token-1', $metadata: {} };

test('the state is failed under the given name', async () => {
  const { client, sent } = stubClient<SFNClient>(() => ({}));
  await failTask(client)('token-1', 'ProviderBusy', 'The start may be tried again.');
  expect(sent).toEqual([
    {
      name: 'SendTaskFailureCommand',
      input: { taskToken: 'token-1', error: 'ProviderBusy', cause: 'The start may be tried again.' },
    },
  ]);
});

test.each([
  ['timed out', new TaskTimedOut(about)],
  ['is unknown', new TaskDoesNotExist(about)],
])('a token that %s is nobody’s loss', async (_what, error) => {
  await failTask(stubClient<SFNClient>(() => fail(error)).client)('token-1', 'ProviderBusy', '');
});

test.each([
  ['an invalid token', new InvalidToken(about)],
  ['a throttle', new Error('slow down')],
])('%s is thrown', async (_what, error) => {
  const failing = failTask(stubClient<SFNClient>(() => fail(error)).client);
  await expect(failing('token-1', 'ProviderBusy', '')).rejects.toBe(error);
});
