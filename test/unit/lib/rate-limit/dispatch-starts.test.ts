import { expect, test } from 'vitest';
import { dispatchStarts } from '../../../../lib/rate-limit/dispatch-starts.ts';
import { type RateState, rateItem } from '../../../../lib/rate-limit/rate-state.ts';
import { slotOf } from '../../../../lib/rate-limit/start-line.ts';
import { memoryTelemetry } from '../../../support/data/memory-telemetry.ts';
import { memoryBreakerStore } from '../../../support/stores/memory-breaker-store.ts';
import { memoryStartLine } from '../../../support/stores/memory-start-line.ts';

/** A dispatcher over a line of so many starts of one caller, at two a second, in a time that passes only while it waits. */
const over = async (
  waiting: number,
  { isPaused = false, groups = 1, perSecond = 2, lasts = 300_000, before = 10_000 } = {},
) => {
  const begin = Date.parse('2026-03-01T06:00:00.000Z');
  let now = begin;
  const line = memoryStartLine();
  for (let index = 0; index < waiting; index += 1) {
    const [extractionId, requestId] = [`e-${index}`, `r-${index}`];
    const at = new Date(begin - before + index).toISOString();
    const group = groups === 1 ? 'bank' : `bank-${index % groups}`;
    const slot = slotOf({ caller: 'orders', priority: 'interactive', group, at, extractionId });
    await line.write({ extractionId, requestId, slot, attempt: 0, waitedMs: 0, expiresAt: 0 });
    line.enter(extractionId, requestId, `token-${index}`);
  }
  const store = memoryBreakerStore();
  const reads: string[] = [];
  const released: string[] = [];
  const releasedAt: number[] = [];
  const waits: number[] = [];
  let [queries, firstQueries] = [0, 0];
  const { telemetry, messages } = memoryTelemetry();
  const run = () =>
    dispatchStarts({
      store: {
        ...store,
        read: (name, ...how) => {
          reads.push(name);
          return store.read(name, ...how);
        },
      },
      line: {
        ...line,
        next: (...what) => {
          queries += 1;
          return line.next(...what);
        },
      },
      limit: async () => perSecond,
      isPaused: async () => isPaused,
      release: async ({ extractionId }) => {
        firstQueries ||= queries;
        released.push(extractionId);
        releasedAt.push(now - begin);
      },
      wait: async (milliseconds) => {
        waits.push(milliseconds);
        const until = now + milliseconds;
        await Promise.resolve();
        now = Math.max(now, until);
      },
      now: () => new Date(now),
      remainingMs: () => begin + lasts - now,
      newId: () => crypto.randomUUID(),
      telemetry,
    });
  const counted = { queriesOfFirstTick: () => firstQueries, passed: () => now - begin };
  return { run, store, line, reads, released, releasedAt, waits, messages, begin, ...counted };
};

test('who waits is released at the rate in order, until nobody has waited for a while, and the lease is given back', async () => {
  const { run, store, line, reads, released, waits, messages, begin, passed } = await over(7);
  // A start in each second, of a process that was never refused.
  for (let second = 0; second < 30; second += 1)
    await line.count(begin / 1_000 + second, { kind: 'accepted', bucket: '1' });
  expect(await run()).toEqual({ end: 'idle', released: 7 });
  expect(released).toEqual(['e-0', 'e-1', 'e-2', 'e-3', 'e-4', 'e-5', 'e-6']);
  // Within a tick every half a second, and at its end at the latest. The first of all waits for nothing.
  expect(waits.slice(0, 3)).toEqual([500, 999, 1]);
  // The last tick with somebody in line, and 15 s.
  expect(passed()).toBeGreaterThan(15_000);
  expect(passed()).toBeLessThan(25_000);
  expect({ reads, messages }).toEqual({ reads: ['rate', 'orders'], messages: [] });
  const { window, lease } = (store.items.get(rateItem)?.state ?? {}) as Partial<RateState>;
  expect(lease).toBeUndefined();
  const { countedFrom = 0, countedUntil = 0 } = window ?? {};
  expect(window).toMatchObject({ accepted: countedUntil - countedFrom, refused: 0 });
  expect(countedUntil).toBe(begin / 1_000 + 3);
  const empty = await over(0);
  expect([await empty.run(), empty.passed()]).toEqual([{ end: 'idle', released: 0 }, 16_000]);
});

test.each([
  ['for long, nothing is released', 65_000, { end: 'leased', released: 0 }, []],
  ['that ends soon, it is released after that', 64_999, { end: 'idle', released: 1 }, [10_000]],
])('while another dispatcher has a lease %s', async (_, endsIn, result, times) => {
  const { run, store, releasedAt, begin } = await over(1);
  const lease = { holder: 'another', until: begin + 10_000, ends: begin + endsIn };
  const state = { nextStartAt: 0, notBefore: 0, lineUntil: 0, lease };
  await store.replace(rateItem, undefined, { state, version: '1' });
  expect(await run()).toEqual(result);
  expect(releasedAt).toEqual(times);
});

test('while starts are paused, the dispatcher of a single one goes on, and reads its breakers every 5 s', async () => {
  const { run, reads, passed } = await over(1, { isPaused: true });
  expect(await run()).toEqual({ end: 'time-is-over', released: 0 });
  expect(reads.filter((name) => name === 'orders')).toHaveLength(Math.ceil(passed() / 5_000));
});

test('of a group whose breaker is open, one start in ten seconds is released for its turn', async () => {
  const { run, store, releasedAt, begin } = await over(2);
  const opened = { since: begin - 60_000, pause: 30, turn: { at: begin - 30_000 } };
  const group = { name: 'bank', failed: [['e-9', begin - 60_000]], opened };
  await store.replace('orders', undefined, { state: { groups: [group] }, version: '1' });
  expect(await run()).toEqual({ end: 'idle', released: 2 });
  expect(releasedAt).toEqual([0, 10_000]);
});

test('a tick reads 40 pages of the line at most', async () => {
  const { run, queriesOfFirstTick } = await over(25 * 45, { groups: 45, lasts: 15_000 });
  await run();
  expect(queriesOfFirstTick()).toBe(40);
});

test.each([
  ['another lane waits for no other', 'refresh', 10_000, 1_000],
  ['another group is seen although those before it wait for their time', 'orders', -3_600_000, 10_000],
])('beside a lane with a group for each start, %s', async (_, caller, before, within) => {
  const crowd = { groups: 1_500, perSecond: 5, lasts: 25_000, before };
  const { run, line, released, releasedAt, begin } = await over(1_500, crowd);
  const at = new Date(begin - 5_000).toISOString();
  const place = { caller, priority: 'interactive', group: 'z', extractionId: 'other' } as const;
  const of = { extractionId: 'other', requestId: 'r', attempt: 0, waitedMs: 0, expiresAt: 0 };
  await line.write({ ...of, slot: slotOf({ ...place, at }) });
  line.enter('other', 'r', 'token');
  await run();
  expect(releasedAt[released.indexOf('other')]).toBeLessThan(within);
});
