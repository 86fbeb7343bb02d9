import { describe, expect } from 'vitest';
import {
  createTaskToken,
  getConsent,
  listConsents,
  listEntities,
  logIn,
  ProviderRefused,
  ProviderUnauthorized,
  pollExtraction,
  pollLegacyTask,
  readTask,
  startExtraction,
  startTask,
} from '#lib/provider/index.ts';
import {
  client,
  clientWith,
  connection,
  control,
  fails,
  newUser,
  otpRequest,
  server,
  someConsent,
  someTarget,
  statement,
  statementNeeding,
  taskFor,
  taskOf,
  waiting,
} from './server-under-test.ts';

/** Section "Authentication" of the provider's API document. */

const isUnauthorized = (call: Promise<unknown>) => fails(call, ProviderUnauthorized);

describe('Mechanisms', () => {
  statement('the API key is sent as x-api-key, for session tokens, OTP tokens and Task Tokens', async () => {
    const wrong = clientWith({ apiKey: 'no-such-key' });
    await isUnauthorized(wrong.sessionToken());
    await isUnauthorized(wrong.createTaskToken(someTarget()));
    await isUnauthorized(wrong.createOtpToken(otpRequest()));
    expect(await client.sessionToken()).not.toBe('');
    expect(await client.createTaskToken(someTarget())).toMatchObject({ taskToken: expect.any(String) });
  });

  statementNeeding(
    [],
    'the session token is sent as a Bearer, for all v2 calls and legacy v1 task calls',
    async () => {
      await isUnauthorized(startTask(connection, 'no-such-token', taskOf(newUser())));
      await isUnauthorized(readTask(connection, 'no-such-token', 'task'));
      await isUnauthorized(pollLegacyTask(connection, 'no-such-token', 'task'));
      await isUnauthorized(listEntities(connection, 'no-such-token'));
    },
  );

  statement('a session token is valid for `expire` minutes, 60 by default', async () => {
    const short = await logIn(connection, server.apiKey, 1);
    const usual = await logIn(connection, server.apiKey);
    // The clock runs on meanwhile, so a minute is left for the calls.
    await fails(readTask(connection, short, 'task'), ProviderRefused);
    await control().advanceClock(60);
    await isUnauthorized(readTask(connection, short, 'task'));
    await control().advanceClock(58 * 60);
    await fails(readTask(connection, usual, 'task'), ProviderRefused);
    await control().advanceClock(60);
    await isUnauthorized(readTask(connection, usual, 'task'));
  });

  // Not shown: Authentication: whether a login ends the client's other sessions
  statementNeeding([], 'a login is assumed to end no other session', async () => {
    const first = await logIn(connection, server.apiKey);
    await logIn(connection, server.apiKey);
    await fails(readTask(connection, first, 'task'), ProviderRefused);
  });

  statement('an OTP token is one-use', async () => {
    const { otpToken } = await client.createOtpToken(otpRequest());
    const open = () => fetch(`${server.baseUrl}/widget?otpToken=${encodeURIComponent(otpToken)}`);
    expect((await open()).status).toBe(200);
    expect((await open()).status).not.toBe(200);
  });

  statementNeeding(
    ['target'],
    'the Task Token is sent as a Bearer, for consents and consent-based extraction; a session token is none',
    async () => {
      for (const token of ['no-such-token', await client.sessionToken()]) {
        await isUnauthorized(listConsents(connection, token));
        await isUnauthorized(getConsent(connection, token, 'a-consent'));
        await isUnauthorized(startExtraction(connection, token, { product: 'tef', consentId: 'a-consent' }));
        await isUnauthorized(pollExtraction(connection, token, 'a-task'));
      }
      const token = await client.createTaskToken(someTarget());
      expect(await client.listConsents(token)).toMatchObject({ consents: expect.any(Array) });
    },
  );
});

describe('Rules', () => {
  statement('a Task Token only reaches data of the user it is bound to', async () => {
    const mine = await someConsent();
    const theirs = await someConsent();
    await fails(client.getConsent(mine.token, theirs.consentId), ProviderRefused);
    await fails(client.startExtraction(mine.token, theirs.order), ProviderRefused);
    const taskId = await client.startExtraction(theirs.token, theirs.order);
    await fails(client.pollExtraction(mine.token, taskId), ProviderRefused);
    expect((await client.listConsents(mine.token)).consents.map(({ id }) => id)).toEqual([mine.consentId]);
  });

  statement('only the client that started a v2 task may read it', async () => {
    const clientId = '00000000-0000-4000-8000-00000000aaaa';
    await control().setClient(clientId, { apiKey: 'another-key' });
    const other = clientWith({ clientId, apiKey: 'another-key' });
    const taskId = await client.startTask(taskFor('COMPLETED'));
    await fails(other.readTask(taskId), ProviderRefused);
    expect(await client.waitForTask(taskId, waiting)).toMatchObject({ taskStatus: 'COMPLETED' });
    const target = someTarget();
    expect(await createTaskToken(connection, 'another-key', { target, clientId })).toMatchObject({ target });
  });

  statement('a Bearer failure is HTTP 401 on the call itself, never in a taskStatus', async () => {
    const taskId = await client.startTask(taskFor('COMPLETED'));
    await fails(readTask(connection, 'no-such-token', taskId), ProviderUnauthorized);
    expect(await control().calls({ path: `/api/v2/tasks/${taskId}` })).toMatchObject([{ status: 401 }]);
  });

  statement('after a 401 the client logs in once and repeats the call', async () => {
    const own = clientWith();
    const first = await own.sessionToken();
    await control().expireTokens({ kind: 'session' });
    const taskId = await own.startTask(taskFor('COMPLETED'));
    expect(await own.sessionToken()).not.toBe(first);
    expect(await own.waitForTask(taskId, waiting)).toMatchObject({ taskStatus: 'COMPLETED' });
  });

  // Not shown: Authentication: token of PDF and revoke
  statement('PDF and revoke are assumed to take the Task Token', async () => {
    const mine = await someConsent();
    const theirs = await someConsent();
    await fails(client.getConsentPdf(mine.token, theirs.consentId), ProviderRefused);
    await fails(client.revokeConsent(mine.token, theirs.consentId), ProviderRefused);
    const pdf = await client.getConsentPdf(theirs.token, theirs.consentId);
    expect(pdf).toMatchObject({ url: expect.any(String) });
    await client.revokeConsent(theirs.token, theirs.consentId);
  });

  // Not shown: Authentication: token of entity listing and user status
  statement('entity listing and user status are assumed to take the session token', async () => {
    const { token } = await someConsent();
    await isUnauthorized(listEntities(connection, token.taskToken));
    expect((await client.listEntities()).length).toBeGreaterThan(0);
    const status = await client.getUserStatus({ entityId: 'demo-bank', username: 'u' });
    expect(status).toMatchObject({ enabled: true });
  });
});
