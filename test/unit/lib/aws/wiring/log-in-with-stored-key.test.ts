import { ResourceNotFoundException, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, test } from 'vitest';
import { logInWithStoredKey } from '../../../../../lib/aws/wiring/log-in-with-stored-key.ts';
import { NotConfigured } from '../../../../../lib/not-configured.ts';
import { answering } from '../../../../support/canned-connection.ts';
import { fail, stubClient } from '../../../../support/stub-client.ts';

test('each login reads the key anew, so that a rotated one needs no deploy', async () => {
  const keys = ['old', 'new'];
  const { client } = stubClient<SecretsManagerClient>(() => ({ SecretString: keys.shift() }));
  const { connection, calls } = answering(() => ({ body: '{"token":"st"}' }));
  const logIn = logInWithStoredKey(client, 'stack/provider-api-key', connection, 60);
  expect([await logIn(), await logIn()]).toEqual(['st', 'st']);
  expect(calls.map(({ headers }) => headers['X-API-Key'])).toEqual(['old', 'new']);
});

test('without a stored key, nothing is sent to the provider', async () => {
  const missing = new ResourceNotFoundException({ message: 'none', $metadata: {} });
  const { client } = stubClient<SecretsManagerClient>(() => fail(missing));
  const { connection, calls } = answering(() => ({ body: '{"token":"st"}' }));
  await expect(logInWithStoredKey(client, 'k', connection, 60)()).rejects.toThrow(NotConfigured);
  expect(calls).toHaveLength(0);
});

test('a Secrets Manager that fails is our failure, not the provider’s', async () => {
  const denied = new Error('AccessDeniedException');
  const { client } = stubClient<SecretsManagerClient>(() => fail(denied));
  const { connection } = answering(() => ({ body: '{"token":"st"}' }));
  await expect(logInWithStoredKey(client, 'k', connection, 60)()).rejects.toBe(denied);
});
