import { describe, expect, test, vi } from 'vitest';
import { plan } from '#lib/extraction/decide.ts';
import type { Ending } from '#lib/extraction/plan.ts';
import { readCallFrom, readOnce } from '#lib/extraction/reconcile/read-task.ts';
import type { ReconcileInvoker } from '#lib/extraction/reconcile/reconcile.ts';
import type { ConsentExtraction } from '#lib/extraction/record.ts';
import { ProviderAmbiguous, ProviderBusy } from '#lib/provider/transport/errors.ts';
import type { PausableCalls } from '#lib/shared-item/operator-settings.ts';
import { consentIn, extractionIn, id, iso, timings } from '../../../../support/data/extraction-fixtures.ts';
import { extractionInMemory } from '../../../../support/stores/extraction-in-memory.ts';
import { memoryRequestStore, storedRequest } from '../../../../support/stores/memory-request-store.ts';

const invoker: ReconcileInvoker = { kind: 'machine' };

type Setup = {
  readonly now?: number;
  readonly record?: ConsentExtraction;
  readonly paused?: PausableCalls;
  readonly error?: Error;
  readonly loginError?: Error;
};

/** Reads as planned. The clock is at `now`, in seconds. */
const world = (setup: Setup = {}) => {
  const { record = consentIn('RUNNING'), now = 1_000, error, loginError } = setup;
  const { deps: stores, seen } = extractionInMemory(record, { now });
  const apply = vi.spyOn(stores.extractions, 'apply');
  /** What the record keeps while the provider is read, which a process that ends would leave. */
  const during: (string | undefined)[] = [];
  const deps = {
    ...stores,
    readCallFor: async () => ({
      tokens: {
        current: () => (loginError === undefined ? Promise.resolve('token') : Promise.reject(loginError)),
        drop: () => undefined,
      },
      get: async () => {
        during.push(seen.record()?.lastReadBegunAt);
        if (error !== undefined) throw error;
        return { reading: { kind: 'running', known: true }, bytes: undefined } as const;
      },
    }),
    isPaused: async (calls: PausableCalls) => calls === setup.paused,
  };
  return {
    /** What was learned, or why no read was planned. */
    read: async () => {
      const planned = plan(record, invoker, deps.now(), timings);
      if (planned.kind !== 'read' && planned.kind !== 'last-read' && planned.kind !== 'no-read')
        return planned.kind === 'write' ? (planned.ifWritten as Ending).explanation : planned.kind;
      const { observed } = await readOnce(record, planned, false, deps);
      if (observed.kind !== 'unread') return observed.kind;
      return observed.unread === 'not-now' ? 'held' : observed.error;
    },
    during,
    apply,
    counted: seen.counted,
    after: seen.record,
  };
};

const over = 7_200;
const lost = consentIn('RUNNING', { lastReadBegunAt: iso(over) });
const sinceTimeout = over + timings.reconcileTimeout;

test.each<readonly [string, Setup, string, readonly (string | undefined)[], number]>([
  ['costs no write', {}, 'read', [undefined], 0],
  ['past the deadline is kept while it is made', { now: over }, 'read', [iso(over)], 1],
  ['is made beside one that may run', { now: sinceTimeout, record: lost }, 'read', [iso(over)], 1],
  [
    'is not made after one that ended its process',
    { now: sinceTimeout + 1, record: lost },
    'InternalError',
    [],
    0,
  ],
  ['is not kept while reads are paused', { now: over, paused: 'reads' }, 'held', [], 0],
])('a read %s', async (_what, setup, ended, during, writes) => {
  const its = world(setup);
  expect([await its.read(), its.during]).toEqual([ended, during]);
  expect(its.apply).toHaveBeenCalledTimes(writes);
});

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

describe('a read', () => {
  const asking = <E extends Error>(error: E): E =>
    Object.assign(error, { retryAfter: { kind: 'delay', seconds: 60 } as const });
  const busy = () => asking(new ProviderBusy('429'));
  const unavailable = () => asking(new ProviderAmbiguous('503', { status: 503 }));
  test.each<readonly [string, { error?: Error; loginError?: Error }, string, string | undefined]>([
    [
      'a 503 with Retry-After leaves when it is over',
      { error: unavailable() },
      'ProviderAmbiguous',
      iso(1_060),
    ],
    ['a 429 too', { error: busy() }, 'ProviderBusy', iso(1_060)],
    ['a login with 429 does, too', { loginError: busy() }, 'ProviderBusy', iso(1_060)],
    ['with 503 not, as it is about all', { loginError: unavailable() }, 'ProviderAmbiguous', undefined],
  ])('in the record: %s', async (_, setup, explanation, notBefore) => {
    const { read, after } = world(setup);
    expect([await read(), after()?.notBefore]).toEqual([explanation, notBefore]);
  });

  const running = (notBefore: number) => consentIn('RUNNING', { notBefore: iso(notBefore) });
  const inGrace = (graceEnd: number) =>
    consentIn('TIMED_OUT', { settledAt: iso(graceEnd - timings.grace), notBefore: iso(1_001) });

  test.each([
    ['is made from notBefore on', running(1_000), 'read'],
    ['is held before notBefore', running(1_001), 'not-before'],
    ['is made before notBefore, too, if it is the last one, at the end of grace', inGrace(1_000), 'read'],
    ['is held before it in grace', inGrace(1_001), 'not-before'],
  ])('%s', async (_what, record, ended) => {
    expect(await world({ record }).read()).toBe(ended);
  });
});
