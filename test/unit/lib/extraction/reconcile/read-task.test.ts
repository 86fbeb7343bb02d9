import { expect, test, vi } from 'vitest';
import { readCallFrom, readOnce } from '#lib/extraction/reconcile/read-task.ts';
import { ProviderAmbiguous, ProviderBusy } from '#lib/provider/transport/errors.ts';
import { consentIn, extractionIn, id, iso } from '../../../../support/data/extraction-fixtures.ts';
import { extractionInMemory } from '../../../../support/stores/extraction-in-memory.ts';
import { memoryRequestStore, storedRequest } from '../../../../support/stores/memory-request-store.ts';

test('is prepared for its method and as brief as it has to be, and by consent not without its request', async () => {
  const asked: unknown[] = [];
  const tokens = (name: string) => ({ current: async () => name, drop: () => undefined });
  const requests = memoryRequestStore({}, storedRequest(id));
  const readCallFor = readCallFrom({
    requests,
    unsealTarget: async () => ({ target: '11111111-1' }),
    providerFor: (isBrief) => ({
      sessions: tokens('session'),
      taskTokens: { current: async (target) => `token of ${target}`, drop: () => undefined },
      readTask: async (token, taskId) => {
        asked.push([token, taskId, isBrief]);
        return { taskStatus: 'RUNNING', results: null, bytes: new Uint8Array() };
      },
      readExtraction: async (token, taskId, variant) => {
        asked.push([token, taskId, isBrief, variant]);
        return { kind: 'in-progress' };
      },
    }),
  });
  for (const record of [extractionIn('RUNNING'), consentIn('RUNNING', { variant: 'v2' })]) {
    const call = await readCallFor(record, 'task-1', record.method === 'consent');
    expect(await call?.get(await call.tokens.current())).toMatchObject({ reading: { kind: 'running' } });
  }
  expect(asked).toEqual([
    ['session', 'task-1', false],
    ['token of 11111111-1', 'task-1', true, 'v2'],
  ]);
  requests.items.clear();
  expect(await readCallFor(consentIn('RUNNING'), 'task-1', true)).toBeUndefined();
});

const asking = <E extends Error>(error: E): E =>
  Object.assign(error, { retryAfter: { kind: 'delay', seconds: 60 } as const });
const busy = () => asking(new ProviderBusy('429'));
const unavailable = () => asking(new ProviderAmbiguous('503', { status: 503 }));

test('a failure of ours before the read is not named as a login that failed', async () => {
  const { deps } = extractionInMemory(consentIn('RUNNING'), { now: 1_000 });
  const read = { kind: 'read', taskId: 'task-1', counts: [] } as const;
  const { observed } = await readOnce(consentIn('RUNNING'), read, false, {
    ...deps,
    readCallFor: () => Promise.reject(new Error('KMS is down')),
    isPaused: async () => false,
  });
  expect(observed).toMatchObject({ problem: 'InternalError', explanation: 'InternalError' });
});

test.each<readonly [string, { error?: Error; loginError?: Error }, string | undefined]>([
  ['a 503 with Retry-After leaves when it is over', { error: unavailable() }, iso(1_060)],
  ['a 429 too', { error: busy() }, iso(1_060)],
  ['a login with 429 does, too', { loginError: busy() }, iso(1_060)],
  ['with 503 not, as it is about all', { loginError: unavailable() }, undefined],
])('in the record: %s', async (_, { error, loginError }, notBefore) => {
  const record = consentIn('RUNNING');
  const { deps, seen } = extractionInMemory(record, { now: 1_000 });
  const thrown = loginError ?? error;
  const tokens = { current: async () => (loginError ? Promise.reject(loginError) : 'token'), drop: vi.fn() };
  const readCallFor = async () => ({ tokens, get: () => Promise.reject(error) });
  const read = { kind: 'read', taskId: 'task-1', counts: [] } as const;
  const { observed } = await readOnce(record, read, false, {
    ...deps,
    readCallFor,
    isPaused: async () => false,
  });
  expect(observed).toMatchObject({ kind: 'unread', unread: 'failed', explanation: thrown?.name });
  expect(seen.record()?.notBefore).toBe(notBefore);
});
