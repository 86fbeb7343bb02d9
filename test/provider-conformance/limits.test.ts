import { describe, expect } from 'vitest';
import {
  encryptCredentials,
  InvalidProviderRequest,
  logIn,
  ProviderBusy,
  ProviderRefused,
  ProviderUnauthorized,
  startTask,
} from '#lib/provider/index.ts';
import {
  client,
  connection,
  control,
  credentialsFor,
  endOf,
  fails,
  newUser,
  plannedUser,
  server,
  someConsent,
  someTarget,
  statement,
  statementNeeding,
  taskFor,
  taskOf,
  waiting,
} from './server-under-test.ts';

/** Section "Limits" of the provider's API document. */

describe('Table', () => {
  statement('temporary encryption is valid for at most 60 minutes', async () => {
    const token = await logIn(connection, server.apiKey, 120);
    const value = encryptCredentials(credentialsFor('COMPLETED'), token);
    const request = { ...taskFor('COMPLETED'), credentials: { mode: 'encrypted', value } as const };
    expect(await startTask(connection, token, request)).not.toBe('');
    await control().advanceClock(3_600);
    await fails(startTask(connection, token, request), ProviderRefused);
  });

  statement('webhook.retries is 1 to 5', async () => {
    for (const retries of [1, 5]) {
      await client.startTask({ ...taskOf(newUser()), webhook: { enable: true, retries } });
    }
    for (const retries of [0, 6]) {
      const call = client.startTask({ ...taskOf(newUser()), webhook: { enable: true, retries } });
      await fails(call, InvalidProviderRequest);
    }
  });

  statement("the consent PDF's URL is valid for 5 minutes", async () => {
    const { token, consentId } = await someConsent();
    const { url } = await client.getConsentPdf(token, consentId);
    await control().advanceClock(240);
    expect((await fetch(url)).status).toBe(200);
    await control().advanceClock(60);
    expect((await fetch(url)).ok).toBe(false);
  });

  statement('a taskId in a path has 1 to 100 characters', async () => {
    const { token } = await someConsent();
    for (const taskId of ['', 'x'.repeat(101)]) {
      for (const call of [
        () => client.readTask(taskId),
        () => client.pollLegacyTask(taskId),
        () => client.pollExtraction(token, taskId),
        () => client.pollExtractionV2(token, taskId),
      ]) {
        await fails(call(), InvalidProviderRequest);
      }
    }
    // The client sends it, and the server does not know the task.
    await fails(client.readTask('x'.repeat(100)), ProviderRefused);
  });
});

describe('Rules', () => {
  statementNeeding(
    ['credentials'],
    'a dateRange beyond the records is adjusted, and the request does not fail',
    async () => {
      const dateRange = { startDate: '1990-01-01', endDate: '2090-12-31' };
      const { taskStatus, results } = await endOf(
        taskFor('COMPLETED', [{ id: 'movement', params: { dateRange } }]),
      );
      expect(taskStatus).toBe('COMPLETED');
      expect(results?.actions[0]?.output).toBeInstanceOf(Array);
    },
  );

  // Not shown: Limits: validity of a Task Token and of a `taskId`
  statement('an expired Task Token is replaced, and the call repeated once', async () => {
    const { target, token, consentId } = await someConsent();
    await control().expireTokens({ kind: 'task' });
    await fails(client.getConsent(token, consentId), ProviderUnauthorized);
    let calls = 0;
    const consent = await client.withTaskToken(target, async (fresh) => {
      calls += 1;
      if (calls === 1) await control().expireTokens({ kind: 'task' });
      return client.getConsent(fresh, consentId);
    });
    expect(consent).toMatchObject({ id: consentId });
    expect(calls).toBe(2);
  });

  statement('a taskId expires, and is then unknown', async () => {
    const taskId = await client.startTask(taskFor('COMPLETED'));
    await client.waitForTask(taskId, waiting);
    await control().advanceClock(8 * 24 * 3_600);
    await fails(client.readTask(taskId), ProviderRefused);
  });

  // Not shown: Limits: rate limits
  statement('rate limits are not shown: 429 is assumed to mean that nothing was started', async () => {
    const user = await plannedUser({ start: [{ kind: 'answer', status: 429 }] });
    await fails(client.startTask(taskOf(user)), ProviderBusy);
    expect(await control().tasks({ username: user.username })).toEqual([]);
  });

  // Not shown: Limits: upper bounds of `limit` and `expire`, number of actions, request size
  statementNeeding(
    ['target'],
    'upper bounds of limit and expire are not shown: the client sets none',
    async () => {
      expect(await logIn(connection, server.apiKey, 24 * 60)).not.toBe('');
      const token = await client.createTaskToken(someTarget());
      expect(await client.listConsents(token, { limit: 1_000 })).toMatchObject({
        hasNext: expect.any(Boolean),
      });
    },
  );
});
