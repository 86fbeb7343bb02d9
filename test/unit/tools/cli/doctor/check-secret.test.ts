import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, test } from 'vitest';
import { checkSecret } from '../../../../../tools/cli/doctor/check-secret.ts';
import { at } from '../../../../support/extraction-fixtures.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const check = async (Versions: unknown) => {
  const { client, sent } = stubClient<SecretsManagerClient>(() => ({ Versions }));
  const secret = { name: 'S/key', label: 'key', remedy: 'run this' };
  return { finding: await checkSecret(client, secret, at(10_000)), sent };
};

test('a secret without a current version fails with the command that fills it', async () => {
  const expected = { result: 'failed', message: 'key is not filled (S/key)', remedy: 'run this' };
  expect((await check(undefined)).finding).toEqual(expected);
  const pending = [{ VersionStages: ['AWSPENDING'], CreatedDate: at(0) }];
  expect((await check(pending)).finding).toEqual(expected);
});

test('a filled secret passes with the ages of its versions', async () => {
  const versions = [
    { VersionStages: ['AWSPREVIOUS'], CreatedDate: at(0) },
    { VersionStages: ['AWSCURRENT'], CreatedDate: at(9_400) },
  ];
  expect((await check(versions)).finding).toEqual({
    result: 'passed',
    message: 'key was filled 10 min ago; the previous one, 2 h 46 min old, is AWSPREVIOUS',
  });
});

test('only the versions of a secret are read, never its value', async () => {
  const { sent } = await check([]);
  expect(sent.map(({ name }) => name)).toEqual(['ListSecretVersionIdsCommand']);
});
