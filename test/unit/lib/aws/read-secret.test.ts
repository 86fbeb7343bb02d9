import { ResourceNotFoundException, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, test } from 'vitest';
import { readRotatingSecret, readSecret } from '../../../../lib/aws/read-secret.ts';
import { NotConfigured } from '../../../../lib/not-configured.ts';
import { fail, stubClient } from '../../../support/aws/stub-client.ts';

const notFound = () => new ResourceNotFoundException({ message: 'not found', $metadata: {} });

/** A secret with a value under some of its staging labels. */
const secret = (labels: { readonly AWSCURRENT?: string; readonly AWSPREVIOUS?: string }) =>
  stubClient<SecretsManagerClient>(({ input }) => {
    const value = labels[input.VersionStage as keyof typeof labels];
    return value === undefined ? fail(notFound()) : { SecretString: value };
  });

test.each(['now', 'now\n', 'now\r\n'])(
  'the current value is read under the secret’s name, without a line break at its end: %j',
  async (AWSCURRENT) => {
    const { client, sent } = secret({ AWSCURRENT });
    expect(await readSecret(client, 'stack/key')).toBe('now');
    expect(sent).toEqual([
      { name: 'GetSecretValueCommand', input: { SecretId: 'stack/key', VersionStage: 'AWSCURRENT' } },
    ]);
  },
);

test.each([
  ['no version at all', {}],
  ['an empty value', { AWSCURRENT: '' }],
])('%s means that the secret is not filled, and names it', async (_what, labels) => {
  const { client } = secret(labels);
  await expect(readSecret(client, 'stack/key')).rejects.toThrow(NotConfigured);
  await expect(readSecret(client, 'stack/key')).rejects.toThrow('stack/key');
  await expect(readRotatingSecret(client, 'stack/key')).rejects.toThrow(NotConfigured);
});

test('a binary value is no value', async () => {
  const { client } = stubClient<SecretsManagerClient>(() => ({ SecretBinary: new Uint8Array([1]) }));
  await expect(readSecret(client, 'stack/key')).rejects.toThrow(NotConfigured);
});

test('any other failure of Secrets Manager is passed on as it is', async () => {
  const denied = new Error('AccessDeniedException');
  const { client } = stubClient<SecretsManagerClient>(() => fail(denied));
  await expect(readSecret(client, 'stack/key')).rejects.toBe(denied);
  await expect(readRotatingSecret(client, 'stack/key')).rejects.toBe(denied);
});

test('a rotating secret is the current value and the one before it, in this order', async () => {
  expect(await readRotatingSecret(secret({ AWSCURRENT: 'new', AWSPREVIOUS: 'old' }).client, 'k')).toEqual([
    'new',
    'old',
  ]);
});

test.each([
  ['was never rotated', { AWSCURRENT: 'only' }],
  ['was rotated to the same value', { AWSCURRENT: 'only', AWSPREVIOUS: 'only' }],
  ['had no value before', { AWSCURRENT: 'only', AWSPREVIOUS: '' }],
])('a secret that %s has one key', async (_what, labels) => {
  expect(await readRotatingSecret(secret(labels).client, 'k')).toEqual(['only']);
});

test('a failed read of the previous value is a failure: a delivery signed with it must not be refused', async () => {
  const throttled = new Error('ThrottlingException');
  const { client } = stubClient<SecretsManagerClient>(({ input }) =>
    input.VersionStage === 'AWSCURRENT' ? { SecretString: 'new' } : fail(throttled),
  );
  await expect(readRotatingSecret(client, 'k')).rejects.toBe(throttled);
});
