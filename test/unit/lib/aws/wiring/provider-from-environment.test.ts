import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  apiKeyFromEnvironment,
  taskTokensFromEnvironment,
} from '../../../../../lib/aws/wiring/provider-from-environment.ts';
import { NotConfigured } from '../../../../../lib/not-configured.ts';
import { answering } from '../../../../support/canned-connection.ts';
import { stubClient } from '../../../../support/stub-client.ts';

beforeEach(() => {
  vi.stubEnv('PROVIDER_API_KEY_SECRET', 'stack/provider-api-key');
  vi.stubEnv('PROVIDER_CLIENT_ID', 'client');
  vi.stubEnv('TASK_TOKEN_MINUTES', '5');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** Tokens tt-1, tt-2, … of a provider; the secret's keys are those given, one per read. */
const setUp = (...keys: string[]) => {
  const { client } = stubClient<SecretsManagerClient>(() => ({ SecretString: keys.shift() }));
  let made = 0;
  const { connection, calls } = answering(() => {
    made += 1;
    return { body: JSON.stringify({ data: { taskToken: `tt-${made}` } }) };
  });
  const time = { ms: 0 };
  const now = () => new Date(time.ms);
  const tokens = taskTokensFromEnvironment(apiKeyFromEnvironment(client, now), connection, now);
  return { tokens, calls, time };
};

test('a Task Token is created with the stored key and the client id, and cached for its lifetime', async () => {
  const { tokens, calls, time } = setUp('old', 'new');
  expect(await tokens.current('11111111-1')).toBe('tt-1');
  time.ms = 299_999;
  expect(await tokens.current('11111111-1')).toBe('tt-1');
  time.ms = 300_000;
  expect(await tokens.current('11111111-1')).toBe('tt-2');
  expect(calls.map(({ headers }) => headers['x-api-key'])).toEqual(['old', 'new']);
  expect(JSON.parse(calls[0]?.body ?? '')).toEqual({ target: '11111111-1', clientId: 'client' });
});

test('without the setting providerClientId, nothing is sent to the provider', async () => {
  vi.stubEnv('PROVIDER_CLIENT_ID', '');
  const { tokens, calls } = setUp('key');
  await expect(tokens.current('11111111-1')).rejects.toThrow(NotConfigured);
  expect(calls).toEqual([]);
});
