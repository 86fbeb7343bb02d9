import { expect, test } from 'vitest';
import { ProviderAmbiguous, ProviderUnauthorized } from '../../../../lib/provider/errors.ts';
import { logIn } from '../../../../lib/provider/log-in.ts';
import { answering } from './canned-connection.ts';
import { toldOf } from './told-of.ts';

test('the API key is exchanged for a session token of the given minutes', async () => {
  const { connection, calls } = answering(() => ({ body: '{"token":"st","more":1}' }));
  expect(await logIn(connection, 'api-key', 45)).toBe('st');
  expect(calls[0]).toMatchObject({
    url: 'https://provider.example/api/v1/auth/login',
    method: 'POST',
    headers: { 'X-API-Key': 'api-key' },
  });
  expect(JSON.parse(calls[0]?.body ?? '')).toEqual({ expire: 45 });
});

test('a wrong key is told as such, without the key', async () => {
  const { connection } = answering(() => ({ status: 401, body: 'SENTINEL' }));
  const failure = await logIn(connection, 'SENTINEL', 60).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ProviderUnauthorized);
  expect(toldOf(failure)).not.toContain('SENTINEL');
});

test.each(['', '{}', '{"token":""}', '{"token":7}', '{"data":{"token":"SENTINEL"}}', '<html>SENTINEL'])(
  'the answer %j has no token in it',
  async (body) => {
    const { connection } = answering(() => ({ body }));
    const failure = await logIn(connection, 'key', 60).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProviderAmbiguous);
    expect(toldOf(failure)).not.toContain('SENTINEL');
  },
);
