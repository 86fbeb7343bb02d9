import { ResourceNotFoundException, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, test } from 'vitest';
import { withStoredApiKey } from '../../../../../lib/aws/wiring/stored-api-key.ts';
import { NotConfigured } from '../../../../../lib/not-configured.ts';
import { ProviderUnauthorized } from '../../../../../lib/provider/transport/errors.ts';
import { fail, stubClient } from '../../../../support/stub-client.ts';

/** Calls with these keys, one for each read. A provider that accepts `accepted` alone. */
const setUp = (...keys: string[]) => {
  const { client, sent } = stubClient<SecretsManagerClient>(() => ({ SecretString: keys.shift() }));
  const provider = { accepted: keys[0] };
  const time = { ms: 0 };
  const withApiKey = withStoredApiKey(client, 'stack/provider-api-key', () => new Date(time.ms));
  const called: string[] = [];
  const call = () =>
    withApiKey(async (apiKey) => {
      called.push(apiKey);
      return apiKey === provider.accepted ? apiKey : fail(new ProviderUnauthorized('401'));
    });
  return { provider, time, call, called, reads: () => sent.length };
};

test('the key is read once in five minutes', async () => {
  const { time, provider, call, reads } = setUp('old', 'new');
  await call();
  time.ms = 299_999;
  expect(await call()).toBe('old');
  expect(reads()).toBe(1);
  time.ms = 300_000;
  provider.accepted = 'new';
  expect(await call()).toBe('new');
  expect(reads()).toBe(2);
});

test('a kept key that is refused is read again, and the call is made with the rotated one', async () => {
  const { provider, call, called, reads } = setUp('old', 'new');
  await call();
  provider.accepted = 'new';
  expect(await call()).toBe('new');
  expect(await call()).toBe('new');
  expect(called).toEqual(['old', 'old', 'new', 'new']);
  expect(reads()).toBe(2);
});

test('a refused key that has not changed is not sent again', async () => {
  const { provider, call, called, reads } = setUp('key', 'key');
  await call();
  provider.accepted = 'another';
  await expect(call()).rejects.toThrow(ProviderUnauthorized);
  expect(called).toEqual(['key', 'key']);
  expect(reads()).toBe(2);
});

test('a refused key that was just read is read again by the next call', async () => {
  const { provider, call, called } = setUp('wrong', 'right');
  provider.accepted = 'right';
  await expect(call()).rejects.toThrow(ProviderUnauthorized);
  expect(await call()).toBe('right');
  expect(called).toEqual(['wrong', 'right']);
});

test('without a stored key no call is made, and a read that failed is repeated', async () => {
  const answers = [new ResourceNotFoundException({ message: 'none', $metadata: {} }), new Error('denied')];
  const { client } = stubClient<SecretsManagerClient>(() => {
    const error = answers.shift();
    return error === undefined ? { SecretString: 'key' } : fail(error);
  });
  const withApiKey = withStoredApiKey(client, 'k', () => new Date(0));
  const call = () => withApiKey(async (apiKey) => apiKey);
  await expect(call()).rejects.toThrow(NotConfigured);
  await expect(call()).rejects.toThrow('denied');
  expect(await call()).toBe('key');
});
