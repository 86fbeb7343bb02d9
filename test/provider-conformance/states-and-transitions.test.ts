import { describe, expect } from 'vitest';
import { ProviderRefused } from '../../lib/provider/index.ts';
import {
  client,
  control,
  endOf,
  extracted,
  fails,
  movement,
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
  statement(
    'an active consent that is revoked becomes INACTIVE with subStatus REVOKED',
    ['control'],
    async () => {
      const { token, consentId } = await someConsent();
      await client.revokeConsent(token, consentId);
      const revoked = { status: 'INACTIVE', subStatus: 'REVOKED' };
      expect(await client.getConsent(token, consentId)).toMatchObject(revoked);
    },
  );

  statement('a revoked consent can no longer be used to extract data', ['control'], async () => {
    const { token, consentId, order } = await someConsent();
    await client.revokeConsent(token, consentId);
    await fails(client.startExtraction(token, order), ProviderRefused);
  });

  statement('a consent that is not active is not revoked', ['control'], async () => {
    const { token, consentId } = await someConsent();
    await control().alterConsent(consentId, { subStatus: 'EXPIRED' });
    await fails(client.revokeConsent(token, consentId), ProviderRefused);
    expect(await client.getConsent(token, consentId)).toMatchObject({ subStatus: 'EXPIRED' });
  });
});

describe('v1 consent-based task', () => {
  statement(
    'a poll of a task still being processed is HTTP 202 and changes nothing',
    ['control'],
    async () => {
      const { token, order } = await someConsent('movement', { durationMs: null });
      const taskId = await client.startExtraction(token, order);
      for (let polls = 0; polls < 3; polls += 1) {
        expect(await client.pollExtraction(token, taskId)).toMatchObject({
          kind: 'in-progress',
          taskStatus: expect.stringMatching(/^(pending|running)$/),
        });
      }
      const calls = await control().calls({ taskId, method: 'GET' });
      expect(calls.map(({ status }) => status)).toEqual([202, 202, 202]);
    },
  );

  statement('a poll of a finished task is HTTP 200 with results', ['consent'], async () => {
    const { token, order } = await someConsent();
    expect(await extracted(token, order)).toMatchObject({
      taskStatus: 'success',
      taskStatusCode: 200,
      results: expect.any(Array),
    });
  });
});

describe('v1 legacy task statuses', () => {
  const outcomes: readonly (readonly [Outcome, string, number])[] = [
    ['COMPLETED', 'success', 200],
    ['CREDENTIALS_WRONG', 'wrong_login', 401],
    ['CREDENTIALS_LOCKED', 'locked', 401],
    ['FAILED', 'error', 500],
  ];
  statement('success, wrong_login, locked and error come inside an HTTP 200', ['control'], async () => {
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
  statement('a task is PENDING while queued and RUNNING while executing', ['control'], async () => {
    const user = await plannedUser({ durationMs: 60_000 });
    const taskId = await client.startTask(taskOf(user));
    expect(await client.readTask(taskId)).toEqual({ taskStatus: 'PENDING', results: null });
    await control().advanceClock(30);
    expect(await client.readTask(taskId)).toEqual({ taskStatus: 'RUNNING', results: null });
  });

  statement('all actions completed: COMPLETED', ['outcomes'], async () => {
    const { taskStatus, results } = await endOf(taskFor('COMPLETED_BOTH'));
    expect(taskStatus).toBe('COMPLETED');
    expect(results?.actions.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED']);
  });

  statement('at least one completed and at least one failed: PARTIAL', ['outcomes'], async () => {
    const { taskStatus, results } = await endOf(taskFor('PARTIAL'));
    expect(taskStatus).toBe('PARTIAL');
    expect(results?.actions.map(({ status }) => status)).toEqual(['COMPLETED', 'FAILED']);
  });

  statement('none completed: FAILED, each action with an error', ['outcomes'], async () => {
    const { taskStatus, results } = await endOf(taskFor('FAILED'));
    expect(taskStatus).toBe('FAILED');
    expect(results?.actions.map(({ status }) => status)).toEqual(['FAILED', 'FAILED']);
    expect(results?.actions.every(({ error }) => error != null)).toBe(true);
  });

  statement('no action could run: FAILED, each action with an error', ['control'], async () => {
    const request = { ...taskOf(newUser()), entity: 'demo-service' };
    const { taskStatus, results } = await endOf(request);
    expect(taskStatus).toBe('FAILED');
    expect(results?.actions.map(({ status }) => status)).toEqual(['FAILED', 'FAILED']);
    expect(results?.actions.every(({ error }) => error != null)).toBe(true);
  });

  statement('entity credentials wrong: CREDENTIALS_WRONG, results null', ['outcomes'], async () => {
    const taskStatus = 'CREDENTIALS_WRONG';
    expect(await endOf(taskFor(taskStatus))).toEqual({ taskStatus, results: null });
  });

  statement('user account locked at the entity: CREDENTIALS_LOCKED, results null', ['outcomes'], async () => {
    const taskStatus = 'CREDENTIALS_LOCKED';
    expect(await endOf(taskFor(taskStatus))).toEqual({ taskStatus, results: null });
  });

  statement('actions run in the given order on the same entity session', ['control'], async () => {
    const { results } = await endOf(taskOf(newUser(), [...movement, { id: 'tef' }]));
    expect(results?.actions.map(({ id }) => id)).toEqual(['movement', 'tef']);
  });

  statement('PARTIAL and the CREDENTIALS_ values never appear on an action', ['outcomes'], async () => {
    const outcomes: readonly Outcome[] = ['COMPLETED', 'PARTIAL', 'FAILED'];
    for (const outcome of outcomes) {
      const statuses = (await endOf(taskFor(outcome))).results?.actions.map(({ status }) => status) ?? [];
      for (const status of statuses) expect(['COMPLETED', 'FAILED']).toContain(status);
    }
  });

  statement('an undocumented status counts as still running', ['control'], async () => {
    const user = await plannedUser({ durationMs: 0, read: [{ kind: 'status', taskStatus: 'PAUSED' }] });
    const taskId = await client.startTask(taskOf(user));
    expect(await client.waitForTask(taskId, waiting)).toMatchObject({ taskStatus: 'COMPLETED' });
    expect(await control().calls({ taskId, method: 'GET' })).toHaveLength(2);
  });
});
