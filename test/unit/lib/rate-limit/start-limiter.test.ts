import { expect, test } from 'vitest';
import { rateItem } from '#lib/rate-limit/rate-state.ts';
import { createStartLimiter } from '#lib/rate-limit/start-limiter.ts';
import { memoryTelemetry } from '../../../support/data/memory-telemetry.ts';
import { memoryBreakerStore, permitStoreOver } from '../../../support/stores/memory-breaker-store.ts';
import { memoryStartLine } from '../../../support/stores/memory-start-line.ts';

const startedAt = 1_800_000_000_000;
const about = { caller: 'orders', group: 'bank' };

/** The limiters of two processes, at two starts a second, in a time that the test moves. */
const given = ({ isFree = false, permits = 'work' as 'work' | 'fail' | 'throttled' } = {}) => {
  const store = memoryBreakerStore();
  const line = memoryStartLine();
  const seen = { now: startedAt, reads: 0, writes: 0, woken: 0 };
  const over = permitStoreOver(store.items, async (_call, effect) => effect());
  const { telemetry, counted } = memoryTelemetry();
  const limiterOf = () =>
    createStartLimiter({
      store: {
        ...store,
        read: (...what) => {
          seen.reads += 1;
          return store.read(...what);
        },
      },
      permits: {
        update: async (update) => {
          seen.writes += 1;
          if (permits === 'fail') throw new Error('Breakers is down.');
          return permits === 'throttled' ? { kind: 'throttled' } : over.update(update);
        },
      },
      line,
      limit: async () => (isFree ? undefined : 2),
      invokeDispatcher: async () => {
        seen.woken += 1;
      },
      now: () => new Date(seen.now),
      newVersion: () => crypto.randomUUID(),
      telemetry,
    });
  const rateIs = (state: object): void =>
    void store.items.set(rateItem, { state: { lineUntil: 0, ...state }, version: '1' });
  return { limiter: limiterOf(), other: limiterOf(), seen, line, counted, rateIs, store };
};

test('starts go at the rate, with a write each, and what a process has read serves a second', async () => {
  const { limiter, seen } = given();
  const answers = [
    await limiter.admit(),
    await limiter.admit(),
    await limiter.admit(),
    await limiter.admit(),
  ];
  expect(answers).toEqual(['go', 'go', 'wait', 'wait']);
  // The first finds no item. Who knows that it is too early writes nothing.
  expect(seen).toMatchObject({ reads: 1, writes: 3 });
  seen.now += 1_000;
  expect([await limiter.admit(), await limiter.admit(), await limiter.admit(), seen.reads]).toEqual([
    'go',
    'go',
    'wait',
    2,
  ]);
});

test('without a rate nothing is written, and while a dispatcher releases who waits, new starts wait behind', async () => {
  const free = given({ isFree: true });
  expect([await free.limiter.admit(), free.seen.writes]).toEqual(['go', 0]);
  const lease = { holder: 'a', until: startedAt + 10_000, ends: startedAt + 900_000 };
  const busy = given();
  busy.rateIs({ lease, lineUntil: startedAt + 5_000 });
  expect([await busy.limiter.admit(), busy.seen.writes]).toEqual(['wait', 0]);
  const dead = given();
  dead.rateIs({ lease: { ...lease, until: startedAt - 1 }, lineUntil: startedAt + 5_000 });
  expect(await dead.limiter.admit()).toBe('go');
});

test('a permit that is throttled is none, and one that fails lets the start go', async () => {
  expect(await given({ permits: 'throttled' }).limiter.admit()).toBe('wait');
  const failing = given({ permits: 'fail' });
  expect([await failing.limiter.admit(), failing.counted]).toEqual(['go', ['RateUnavailable']]);
});

test('of all processes whose starts go in line, one wakes the dispatcher in two seconds, while none runs', async () => {
  const { limiter, other, seen, rateIs } = given();
  const entry = { extractionId: 'e-1', requestId: 'r-1', slot: 's', attempt: 0, waitedMs: 0, expiresAt: 0 };
  const woken: number[] = [];
  for (const [of, ms] of [
    [limiter, 0],
    [other, 0],
    [limiter, 1_999],
    [other, 1],
  ] as const) {
    seen.now += ms;
    await of.enqueue(entry);
    woken.push(seen.woken);
  }
  expect(woken).toEqual([1, 1, 1, 2]);
  rateIs({ lease: { holder: 'a', until: seen.now + 10_000, ends: seen.now + 900_000 } });
  seen.now += 3_000;
  await given().limiter.enqueue(entry);
  await other.enqueue(entry);
  expect(seen.woken).toBe(2);
});

test('calls are counted once one was bad, and a slow one that is accepted in the end is taken back', async () => {
  const { limiter, seen, line } = given();
  const second = startedAt / 1_000;
  const sums = async () =>
    [...(await line.counts(second, second + 9)).values()].map((calls) => [...calls.values()]);
  expect(await limiter.report(about, { kind: 'accepted' })).toBeUndefined();
  expect(await sums()).toEqual([]);
  const countedAt = await limiter.report(about, { kind: 'failed', admittedAt: startedAt });
  expect([countedAt, seen.woken]).toEqual([second, 1]);
  expect(await sums()).toEqual([[{ accepted: 0, refused: 0, failed: 1 }]]);
  seen.now += 6_000;
  await limiter.report(about, { kind: 'recovered', second });
  await limiter.report(about, { kind: 'refused', retryAt: startedAt + 60_000 });
  expect(await sums()).toEqual([
    [{ accepted: 0, refused: 0, failed: 0 }],
    [{ accepted: 0, refused: 1, failed: 0, retryAt: startedAt + 60_000 }],
  ]);
});

test('a failure of a start that was admitted before the last cut is not counted', async () => {
  const { limiter, line, rateIs } = given();
  rateIs({ learnt: { perSecond: 2, accepted: 2, share: 0.5, at: startedAt } });
  expect(await limiter.report(about, { kind: 'failed', admittedAt: startedAt + 2_999 })).toBeUndefined();
  expect((await line.counts(0, startedAt)).size).toBe(0);
});
