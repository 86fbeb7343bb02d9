import { ResourceNotFoundException, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, test } from 'vitest';
import { readRotatingSecret, readSecret } from '#lib/aws/read-secret.ts';
import { NotConfigured } from '#lib/not-configured.ts';
import { fail, stubClient } from '../../../support/aws/stub-client.ts';

const notFound = () => new ResourceNotFoundException({ message: 'not found', $metadata: {} });

/** A secret with a value under some of its staging labels. */
const secret = (labels: { readonly AWSCURRENT?: string; readonly AWSPREVIOUS?: string }) =>
  stubClient<SecretsManagerClient>(({ input }) => {
    const value = labels[input.VersionStage as keyof typeof labels];
    return value === undefined
      ? fail(notFound())
      : { SecretString: value, VersionId: `of ${input.VersionStage}` };
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
  ['no version at all', secret({})],
  ['an empty value', secret({ AWSCURRENT: '' })],
  ['a binary value', stubClient<SecretsManagerClient>(() => ({ SecretBinary: new Uint8Array([1]) }))],
])('%s means that the secret is not filled, and names it', async (_what, { client }) => {
  const missing = new NotConfigured('secret', 'stack/key');
  await expect(readSecret(client, 'stack/key')).rejects.toThrow(missing);
  await expect(readRotatingSecret(client, 'stack/key')).rejects.toThrow(missing);
});

test.each([
  [
    'was rotated',
    { AWSCURRENT: 'new', AWSPREVIOUS: 'old' },
    [
      { text: 'new', version: 'of AWSCURRENT' },
      { text: 'old', version: 'of AWSPREVIOUS' },
    ],
  ],
  ['was never rotated', { AWSCURRENT: 'only' }, [{ text: 'only', version: 'of AWSCURRENT' }]],
  [
    'was rotated to the same value',
    { AWSCURRENT: 'only', AWSPREVIOUS: 'only' },
    [{ text: 'only', version: 'of AWSCURRENT' }],
  ],
])('a secret that %s has its values of now and before as keys', async (_what, labels, keys) => {
  expect(await readRotatingSecret(secret(labels).client, 'k')).toEqual(keys);
});

test('a failed read of the previous value is a failure: a delivery signed with it must not be refused', async () => {
  const throttled = new Error('ThrottlingException');
  const { client } = stubClient<SecretsManagerClient>(({ input }) =>
    input.VersionStage === 'AWSCURRENT' ? { SecretString: 'new' } : fail(throttled),
  );
  await expect(readRotatingSecret(client, 'k')).rejects.toBe(throttled);
});
