import { describe, expect, inject, test } from 'vitest';
import { persistCredentials } from '../../sandbox/credentials/read-credentials.ts';
import { encrypt } from '../../sandbox/encryption-scheme.ts';
import {
  type Body,
  extract,
  extractWith,
  passwordSentinel,
  plannedUsername,
  requestFor,
  startCallsOf,
  uniqueUsername,
} from './support/call-extractions.ts';
import { closed } from './support/records.ts';
import { secret } from './support/searched-secrets.ts';

const { apiKey, sandboxUrl } = inject('cosecha');

const logIn = async (): Promise<string> => {
  const answer = await fetch(`${sandboxUrl}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: '{}',
  });
  return ((await answer.json()) as { token: string }).token;
};

/** Credentials that the caller encrypted, with the session token they are encrypted under. */
const encryptedFor = (username: string, sessionToken: string): Body => {
  const raw = JSON.stringify({ username, password: passwordSentinel });
  const value = secret('credentials', encrypt(raw, sessionToken));
  return { credentials: { mode: 'encrypted', value }, sessionToken };
};

describe('the session token', () => {
  test('of the stack is renewed after a 401, and the start is repeated', async () => {
    const { username, extractionId } = await extractWith({ start: [{ kind: 'expire-session' }] });

    expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });
    const calls = await startCallsOf(username);
    expect(calls).toMatchObject([{ status: 401 }, { status: 200 }]);
    expect(calls[0]?.bearer).not.toBe(calls[1]?.bearer);
  });

  test('of the caller is sent with the credentials encrypted under it', async () => {
    const username = uniqueUsername();
    const extractionId = await extract(requestFor(username, encryptedFor(username, await logIn())));

    expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });
    expect(await startCallsOf(username)).toMatchObject([{ credentialsMode: 'encrypted', status: 200 }]);
  });

  test('of the caller is not renewed: once it has expired, the extraction is REJECTED', async () => {
    const username = await plannedUsername({ startForever: { kind: 'expire-session' } });
    const extractionId = await extract(requestFor(username, encryptedFor(username, await logIn())));

    expect(await closed(extractionId)).toMatchObject({ status: 'REJECTED', reason: 'session-token-refused' });
    expect(await startCallsOf(username)).toHaveLength(1);
  });
});

test('persisted credentials are passed on unchanged', async () => {
  const username = uniqueUsername();
  const value = persistCredentials({ username, password: passwordSentinel });
  const extractionId = await extract(requestFor(username, { credentials: { mode: 'persisted', value } }));

  expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });
  expect(await startCallsOf(username)).toMatchObject([{ credentialsMode: 'persisted' }]);
});
