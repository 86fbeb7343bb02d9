import { beforeEach, describe, expect, test } from 'vitest';
import { type BreakerState, closedBreaker, pause } from '../../../../lib/breaker/breaker-state.ts';
import {
  type Attempt,
  alsoCountingFor,
  type CircuitBreaker,
  createCircuitBreaker,
} from '../../../../lib/breaker/circuit-breaker.ts';
import { ProviderAmbiguous, ProviderRefused } from '../../../../lib/provider/transport/errors.ts';
import { memoryBreakerStore } from '../../../support/memory-breaker-store.ts';
import { memoryTelemetry } from '../../../support/memory-telemetry.ts';
import type { StoreCall } from '../../../support/store-fault.ts';

const settings = { failures: 3, openSeconds: 30, maxOpenSeconds: 100, probeSeconds: 60, slowCallSeconds: 5 };
const http503 = new ProviderAmbiguous('503', { status: 503 });
const http400 = new ProviderRefused('400', 400);
const succeed = () => Promise.resolve('answer');
const failing = () => Promise.reject(http503);

let seconds: number;
let calls: string[];
let broken: (call: StoreCall) => boolean;
/** What waits for a call to be slow. */
let waiting: Set<() => void>;
let telemetry: ReturnType<typeof memoryTelemetry>;

beforeEach(() => {
  seconds = 0;
  calls = [];
  broken = () => false;
  waiting = new Set();
  telemetry = memoryTelemetry();
});

const store = () =>
  memoryBreakerStore({
    before: (call) => {
      calls.push(call.method);
      if (broken(call)) throw new Error('down');
    },
  });

type Store = ReturnType<typeof store>;

const stateOf = (shared: Store) => shared.items.get('starts')?.state as BreakerState | undefined;

let ids = 0;

/** The breaker of one process. */
const processOn = (shared: Store): CircuitBreaker =>
  createCircuitBreaker({
    name: 'starts',
    store: shared,
    settings,
    now: () => new Date(seconds * 1_000),
    newId: () => {
      ids += 1;
      return `id-${ids}`;
    },
    schedule: (callback) => {
      waiting.add(callback);
      return () => waiting.delete(callback);
    },
    telemetry: telemetry.telemetry,
  });

type Options = { readonly about?: string; readonly group?: string; readonly isLast?: boolean };

/** What one call under the breaker was: how it was made, or held, or the error that it threw. */
const call = async (
  breaker: CircuitBreaker,
  made: () => Promise<unknown> = succeed,
  { about = `extraction-${Math.random()}`, group = 'caller bank', isLast = false }: Options = {},
): Promise<Attempt['kind'] | 'held' | unknown> => {
  let kind: unknown = 'held';
  try {
    await breaker.run(
      { extractionId: about, group },
      (attempt) => {
        kind = attempt.kind;
        return attempt.make(made);
      },
      { isLast },
    );
    return kind;
  } catch (error) {
    return error;
  }
};

/** A store whose breaker opened at 0 s, and is half-open from 30 s on. */
const opened = async (): Promise<Store> => {
  const shared = store();
  for (const process of [processOn(shared), processOn(shared), processOn(shared)])
    await call(process, failing);
  return shared;
};

describe('while all is well', () => {
  test('a process reads the state once in 5 s, and writes nothing', async () => {
    const breaker = processOn(store());
    for (seconds = 0; seconds < 10; seconds += 1) await call(breaker);
    expect(calls).toEqual(['read', 'read']);
  });

  test('concurrent calls share a read', async () => {
    const breaker = processOn(store());
    await Promise.all([call(breaker), call(breaker), call(breaker)]);
    expect(calls).toEqual(['read']);
  });

  test('the value, and an error as it was, reach the caller', async () => {
    const breaker = processOn(store());
    expect(
      await breaker.run({ extractionId: 'a', group: 'caller bank' }, ({ make }) => make(succeed)),
    ).toEqual({ kind: 'made', value: 'answer' });
    expect(await call(breaker, () => Promise.reject(http400))).toBe(http400);
  });

  test('a failure that says nothing about the provider is not counted', async () => {
    await call(processOn(store()), () => Promise.reject(http400));
    expect(calls).toEqual(['read']);
  });

  test('of several calls, the latest that counts decides: a login counts only if it fails', async () => {
    const shared = store();
    const breaker = processOn(shared);
    await breaker.run({ extractionId: 'a', group: 'caller bank' }, async ({ prepare, make }) => {
      await make(failing).catch(() => undefined);
      await prepare(succeed);
    });
    expect(stateOf(shared)?.count).toBe(1);
    await breaker.run({ extractionId: 'b', group: 'caller bank' }, ({ prepare }) => prepare(succeed));
    expect(stateOf(shared)?.count).toBe(1);
    await breaker
      .run({ extractionId: 'c', group: 'caller bank' }, ({ prepare }) => prepare(failing))
      .catch(() => undefined);
    expect(stateOf(shared)?.count).toBe(2);
  });
});

describe('one failure each of several processes', () => {
  test('opens the breaker for a process that has not failed', async () => {
    const before = telemetry.counted.length;
    const shared = await opened();
    expect(await call(processOn(shared))).toBe('held');
    expect(telemetry.counted.slice(before)).toEqual(['BreakerOpened', 'StartsHeld']);
  });

  test('a process learns with its own failure that the breaker is open, and not only after 5 s', async () => {
    const shared = store();
    const late = processOn(shared);
    await call(late, async () => {
      for (const process of [processOn(shared), processOn(shared), processOn(shared)]) {
        await call(process, failing);
      }
      throw http503;
    });
    expect(await call(late)).toBe('held');
  });

  test('a failed login that is about no extraction counts each time, and an error of our own never', async () => {
    const shared = store();
    const logIn = alsoCountingFor(processOn(shared), failing);
    for (let times = 0; times < 3; times += 1) await logIn().catch(() => undefined);
    expect(await call(processOn(shared))).toBe('held');
    const other = store();
    await alsoCountingFor(processOn(other), () => Promise.reject(new Error('KMS')))().catch(() => undefined);
    expect(stateOf(other)).toBeUndefined();
  });
});

describe('a half-open breaker', () => {
  test('is open again after a failed probe, and half-open at once after one that showed nothing', async () => {
    const shared = await opened();
    seconds = 30;
    await call(processOn(shared), () => Promise.reject(http400));
    await call(processOn(shared), failing);
    seconds = 59;
    expect(await call(processOn(shared))).toBe('held');
    seconds = 60;
    expect(await call(processOn(shared))).toBe('probe');
  });
});

describe('a slow call', () => {
  /** A call that is slow, and then ends. */
  const slowly = (end: () => Promise<unknown>) => async () => {
    for (const callback of waiting) callback();
    // Until the write that counts it has ended.
    await new Promise((resolve) => setImmediate(resolve));
    return end();
  };

  test('counts once if it fails in the end, and not at all if it is refused', async () => {
    const shared = store();
    await call(processOn(shared), slowly(failing));
    expect(stateOf(shared)?.count).toBe(1);
    await call(
      processOn(shared),
      slowly(() => Promise.reject(http400)),
    );
    expect(stateOf(shared)).toMatchObject({ count: 1, failing: [expect.any(String)] });
  });

  test('is not waited for when it has ended in time, or is a probe, which is judged at its end', async () => {
    const shared = await opened();
    expect(waiting.size).toBe(0);
    seconds = 30;
    await call(processOn(shared), async () => expect(waiting.size).toBe(0));
    expect.assertions(2);
  });
});

describe('a probe', () => {
  test.each([
    ['whose login fails', 'prepare', undefined],
    ['whose call fails', 'make', expect.any(String)],
  ] as const)('%s is judged by it', async (_, what, failedProbe) => {
    const shared = await opened();
    seconds = 30;
    const about = { extractionId: 'probe', group: 'caller bank' };
    await processOn(shared)
      .run(about, (attempt) => attempt[what](failing))
      .catch(() => undefined);
    const [group] = Object.values(stateOf(shared)?.opened?.groups ?? {});
    expect(group).toEqual({ until: 60_000, seconds: 30, ...(failedProbe && { failedProbe }) });
  });
});

describe('a last call', () => {
  test('is made although the breaker is open; its success closes it, and its failure counts for nothing', async () => {
    const shared = await opened();
    const before = stateOf(shared);
    const asking = Object.assign(new ProviderAmbiguous('503', { status: 503 }), {
      retryAfter: { kind: 'delay', seconds: 90 },
    });
    expect(await call(processOn(shared), () => Promise.reject(asking), { isLast: true })).toBe(asking);
    expect(stateOf(shared)).toEqual(before);
    expect(await call(processOn(shared), succeed, { isLast: true })).toBe('last');
    expect(stateOf(shared)?.opened).toBeUndefined();
  });

  test('is an ordinary call while the breaker is closed, and is held by a pause of an operator', async () => {
    expect(await call(processOn(store()), succeed, { isLast: true })).toBe('ordinary');
    const shared = store();
    shared.items.set('starts', { state: pause(closedBreaker, 'maintenance', 0), version: '1' });
    expect(await call(processOn(shared), succeed, { isLast: true })).toBe('held');
  });
});

describe('if the state is not available,', () => {
  test.each(['read', 'replace'])('%s: the call is made, and it is counted', async (method) => {
    const shared = await opened();
    seconds = 30;
    broken = ({ method: called }) => called === method;
    const before = telemetry.counted.length;
    expect(await call(processOn(shared), () => Promise.resolve())).toBe('ordinary');
    expect(new Set(telemetry.counted.slice(before))).toEqual(new Set(['BreakerUnavailable']));
  });

  test('it is not read again for 5 s', async () => {
    broken = () => true;
    const breaker = processOn(store());
    expect([await call(breaker), await call(breaker)]).toEqual(['ordinary', 'ordinary']);
    expect(calls).toEqual(['read']);
  });

  test('a failure is reported without an exception of its own', async () => {
    const breaker = processOn(store());
    const error = await call(breaker, () => {
      broken = () => true;
      return Promise.reject(http503);
    });
    expect(error).toBe(http503);
  });

  test.each([
    ['without a state', {}],
    ['with fields of other forms', { state: { count: 'x', failing: 3, opened: 7, paused: null } }],
    ['open for years', { state: { ...closedBreaker, opened: { since: 0, until: 1e15, seconds: 30 } } }],
    [
      'that holds a group for years',
      {
        state: {
          ...closedBreaker,
          opened: { since: 0, until: 0, seconds: 30, groups: { bank: { until: 1e15, seconds: 30 } } },
        },
      },
    ],
    [
      'with a lease for years',
      {
        state: {
          ...closedBreaker,
          opened: { since: 0, until: 0, seconds: 30, probe: { id: 'p', until: 1e15 } },
        },
      },
    ],
    ['of an earlier form', { state: { failures: [1, 2], inARow: 2 }, version: '1' }],
  ])('an item %s is a closed breaker, is counted, and is replaced by the next failure', async (_, item) => {
    const shared = store();
    shared.items.set('starts', item);
    const before = telemetry.counted.length;
    expect(await call(processOn(shared))).toBe('ordinary');
    expect(telemetry.counted.slice(before)).toEqual(['BreakerUnavailable']);
    await call(processOn(shared), failing, { about: 'broken' });
    expect(stateOf(shared)).toEqual({ count: 1, failing: ['broken'] });
  });
});
