import { expect, test } from 'vitest';
import { SecretNotFilled } from '../../../../../lib/aws/read-secret.ts';
import { SettingMissing } from '../../../../../lib/aws/wiring/environment.ts';
import { untilSetUp } from '../../../../../lib/aws/wiring/until-set-up.ts';
import { ProviderUnauthorized } from '../../../../../lib/provider/transport/errors.ts';

const failing = (error: Error) => untilSetUp(() => Promise.reject(error)).catch((thrown: unknown) => thrown);

test.each([
  ['a secret that is not filled', new SecretNotFilled('Cosecha-prod/provider-api-key')],
  ['a setting that is not given', new SettingMissing('providerClientId')],
])('%s is told as a key that the provider would not take, with its cause', async (_what, error) => {
  const thrown = await failing(error);
  expect(thrown).toBeInstanceOf(ProviderUnauthorized);
  expect(thrown).toHaveProperty('cause', error);
});

test('anything else is thrown as it is, and an answer given as it is', async () => {
  const error = new Error('ours');
  expect(await failing(error)).toBe(error);
  expect(await untilSetUp(async () => 'token')).toBe('token');
});
