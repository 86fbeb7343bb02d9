import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, onTestFinished, test } from 'vitest';
import { checkProvider } from '../../../../../tools/cli/doctor/check-provider.ts';
import { startSandbox } from '../../../../sandbox/sandbox.ts';
import { timings } from '../../../../support/extraction-fixtures.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const check = (apiKey: string, providerBaseUrl: string) =>
  checkProvider(stubClient<SecretsManagerClient>(() => ({ SecretString: apiKey })).client, 'S/key', {
    timings,
    timeout: 60,
    providerBaseUrl,
    providerTimeouts: { connect: 1_000, total: 2_000 },
  });

test('a provider that accepts the API key passes, one that refuses it fails, and no key is skipped', async () => {
  const sandbox = await startSandbox({ clients: [{ clientId: 'c', apiKey: 'right-key' }] });
  onTestFinished(() => sandbox.close());
  expect(await check('right-key', sandbox.baseUrl)).toMatchObject({ result: 'passed' });
  expect(await check('other-key', sandbox.baseUrl)).toMatchObject({
    result: 'failed',
    message: `provider ${sandbox.baseUrl} refuses the API key`,
  });
  expect(await check('', sandbox.baseUrl)).toMatchObject({ result: 'skipped' });
});

test('a provider that does not answer fails', async () => {
  expect(await check('key', 'http://127.0.0.1:9')).toMatchObject({
    result: 'failed',
    message: 'provider http://127.0.0.1:9 does not answer this machine',
  });
});
