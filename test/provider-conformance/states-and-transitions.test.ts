import { describe, expect } from 'vitest';
import { ProviderRefused } from '#lib/provider/index.ts';
import {
  client,
  control,
  endOf,
  fails,
  newUser,
  type Outcome,
  plannedUser,
  server,
  someConsent,
  statement,
  taskFor,
  taskOf,
  waiting,
} from './server-under-test.ts';

/** Section "States and transitions" of the provider's API document. */

describe('Consent', () => {
  statement('a consent that is not active is not revoked', async () => {
    const { token, consentId } = await someConsent();
    await control().alterConsent(consentId, { subStatus: 'EXPIRED' });
    await fails(client.revokeConsent(token, consentId), ProviderRefused);
    expect(await client.getConsent(token, consentId)).toMatchObject({ subStatus: 'EXPIRED' });
  });
});

describe('v1 legacy task statuses', () => {
  const outcomes: readonly (readonly [Outcome, string, number])[] = [
    ['COMPLETED', 'success', 200],
    ['CREDENTIALS_WRONG', 'wrong_login', 401],
    ['CREDENTIALS_LOCKED', 'locked', 401],
    ['FAILED', 'error', 500],
  ];
  statement('success, wrong_login, locked and error come inside an HTTP 200', async () => {
    for (const [outcome, taskStatus, taskStatusCode] of outcomes) {
      const taskId = await client.startLegacyTask({
        action: 'demo-bank:movement',
        credentials: { password: 'p', ...server.pairFor(outcome) },
      });
      expect(await client.waitForLegacyTask(taskId, waiting)).toMatchObject({ taskStatus, taskStatusCode });
      const calls = await control().calls({ taskId, method: 'GET' });
      expect(calls.at(-1)).toMatchObject({ status: 200 });
    }
  });
});

describe('v2 task', () => {
  statement('a task is PENDING while queued and RUNNING while executing', async () => {
    const user = await plannedUser({ durationMs: 60_000 });
    // PENDING lasts for half a second, which the first read on a busy machine may miss.
    let taskId: string;
    do taskId = await client.startTask(taskOf(user));
    while ((await client.readTask(taskId)).taskStatus !== 'PENDING');
    await control().advanceClock(30);
    expect(await client.readTask(taskId)).toEqual({ taskStatus: 'RUNNING', results: null });
  });

  const ends: Readonly<Record<Exclude<Outcome, 'COMPLETED_BOTH'>, readonly (string | null)[] | undefined>> = {
    COMPLETED: [null, null],
    PARTIAL: [null, 'TIMEOUT_ERROR'],
    FAILED: ['ACTION_ERROR', 'ENTITY_API_ERROR'],
    CREDENTIALS_WRONG: undefined,
    CREDENTIALS_LOCKED: undefined,
  };
  statement('the outcome follows from those of the actions, and without access there are none', async () => {
    for (const [outcome, codes] of Object.entries(ends)) {
      const taskId = await client.startTask(taskFor(outcome as Outcome));
      const { taskStatus, results } = await client.waitForTask(taskId, waiting);
      const actions = results?.actions.map(({ status, error }) => ({ status, code: error?.code ?? null }));
      const expected = codes?.map((code) => ({ status: code === null ? 'COMPLETED' : 'FAILED', code }));
      expect({ taskStatus, actions }).toEqual({ taskStatus: outcome, actions: expected });
      if (codes === undefined) expect(results).toBeNull();
      // A failure of the task is none of the call.
      expect((await control().calls({ taskId, method: 'GET' })).at(-1)).toMatchObject({ status: 200 });
    }
  });

  statement('no action could run: FAILED, each action with an error', async () => {
    const request = { ...taskOf(newUser()), entity: 'demo-service' };
    const { taskStatus, results } = await endOf(request);
    expect(taskStatus).toBe('FAILED');
    expect(results?.actions.map(({ status }) => status)).toEqual(['FAILED', 'FAILED']);
    expect(results?.actions.every(({ error }) => error != null)).toBe(true);
  });

  statement('an undocumented status counts as still running', async () => {
    const user = await plannedUser({ durationMs: 0, read: [{ kind: 'status', taskStatus: 'PAUSED' }] });
    const taskId = await client.startTask(taskOf(user));
    expect(await client.waitForTask(taskId, waiting)).toMatchObject({ taskStatus: 'COMPLETED' });
    expect(await control().calls({ taskId, method: 'GET' })).toHaveLength(2);
  });
});
