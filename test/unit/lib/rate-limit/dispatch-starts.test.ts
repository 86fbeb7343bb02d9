import { expect, test } from 'vitest';
import { logMessages } from '#lib/observability/log-messages.ts';
import { dispatchStarts } from '#lib/rate-limit/dispatch-starts.ts';
import { rateItem } from '#lib/rate-limit/rate-state.ts';
import { type StartLineStore, slotOf } from '#lib/rate-limit/start-line.ts';
import { memoryTelemetry } from '../../../support/data/memory-telemetry.ts';
import { memoryBreakerStore, permitStoreOver } from '../../../support/stores/memory-breaker-store.ts';
import { memoryStartLine } from '../../../support/stores/memory-start-line.ts';

/** A dispatcher over a line of so many starts of one caller, at two a second, in a time that passes only while it waits. */
const over = async (
  waiting: number,
  {
    isPaused = false,
    isFree = false,
    isScheduled = false,
    groups = 1,

    lasts = 300_000,
    leaves = (_tries: number): boolean => true,
    losesFirstAnswer = false,
    countsFail = false,
    failingTicks = 0,
    refused = 0,
    refusesFirstPermit = false,
  } = {},
) => {
  const begin = Date.parse('2026-03-01T06:00:00.000Z');
  let now = begin;
  const line = memoryStartLine();
  for (let index = 0; index < waiting; index += 1) {
    const [extractionId, requestId] = [`e-${index}`, `r-${index}`];
    const at = new Date(begin - 10_000 + index).toISOString();
    const group = groups === 1 ? 'bank' : `bank-${index % groups}`;
    const slot = slotOf({ caller: 'orders', priority: 'interactive', group, at, extractionId });
    await line.write({ extractionId, requestId, slot, attempt: 0, waitedMs: 0, expiresAt: 0 });
    line.enter(extractionId, requestId, `token-${index}`);
  }
  const store = memoryBreakerStore();
  const released: string[] = [];
  const releasedAt: number[] = [];
  let [queries, firstQueries, tries, permits] = [0, 0, 0, 0];
  const { telemetry, messages } = memoryTelemetry();
  const permitStore = permitStoreOver(store.items, async (_call, effect) => effect());
  const counts: StartLineStore['counts'] = async (...seconds) => {
    const bad = new Map([['caller.group', { accepted: 20, refused, failed: 0 }]]);
    return refused > 0 ? new Map([[begin / 1_000 - 1, bad]]) : line.counts(...seconds);
  };
  const run = () =>
    dispatchStarts({
      store,
      permits: {
        update: (update) => {
          permits += 1;
          if (refusesFirstPermit && permits === 1)
            return Promise.resolve({ kind: 'refused', next: undefined });
          return permitStore.update(update);
        },
      },
      line: {
        ...line,
        next: (...what) => {
          queries += 1;
          if (queries <= failingTicks) {
            now += 4_000;
            return Promise.reject(new Error('StartLine hangs.'));
          }
          return line.next(...what);
        },
        counts: (...seconds) =>
          countsFail ? Promise.reject(new Error('StartLine is throttled.')) : counts(...seconds),
        leave: async (...released) => {
          tries += 1;
          if (!leaves(tries)) throw new Error('StartLine is down.');
          return line.leave(...released);
        },
      },
      limit: async () => (isFree ? undefined : 2),
      isPaused: async () => isPaused,
      release: async ({ extractionId }) => {
        firstQueries ||= queries;
        released.push(extractionId);
        releasedAt.push(now - begin);
        if (losesFirstAnswer && released.length === 1) throw new Error('The answer was lost.');
      },
      wait: async (milliseconds) => {
        const until = now + milliseconds;
        await Promise.resolve();
        now = Math.max(now, until);
      },
      now: () => new Date(now),
      remainingMs: () => begin + lasts - now,
      newId: () => crypto.randomUUID(),
      telemetry,
      publish: () => undefined,
      isScheduled,
    });
  const counted = {
    queriesOfFirstTick: () => firstQueries,
    passed: () => now - begin,
    permits: () => permits,
  };
  return { run, store, line, released, releasedAt, messages, begin, ...counted };
};

test('who waits is released at the rate in order, until nobody has waited for a while, and the lease is given back', async () => {
  const { run, store, released, messages, passed } = await over(7);
  expect(await run()).toEqual({ end: 'idle', released: 7 });
  expect(released).toEqual(['e-0', 'e-1', 'e-2', 'e-3', 'e-4', 'e-5', 'e-6']);
  // The last tick with somebody in line, and 15 s.
  expect(passed()).toBeGreaterThan(15_000);
  expect(passed()).toBeLessThan(25_000);
  expect(messages).toEqual([]);
  expect(store.items.get(rateItem)?.state).not.toHaveProperty('lease');
});

test.each([
  ['that a start has woken waits for who goes in line', false, 16_000],
  ['of the schedule ends at once if there is nothing to do', true, 0],
])('a dispatcher %s', async (_, isScheduled, passed) => {
  const empty = await over(0, { isScheduled });
  expect([await empty.run(), empty.passed()]).toEqual([{ end: 'idle', released: 0 }, passed]);
  const { run } = await over(1, { isScheduled });
  expect(await run()).toEqual({ end: 'idle', released: 1 });
});

test('while another dispatcher has a lease that ends soon, the next one waits for that', async () => {
  const { run, store, releasedAt, begin } = await over(1);
  const lease = { holder: 'another', until: begin + 10_000, ends: begin + 64_999 };
  await store.replace(rateItem, undefined, { state: { lineUntil: 0, lease }, version: '1' });
  expect([await run(), releasedAt]).toEqual([{ end: 'idle', released: 1 }, [10_000]]);
});

test('while starts are paused, the dispatcher of a single one goes on', async () => {
  const { run } = await over(1, { isPaused: true });
  expect(await run()).toEqual({ end: 'time-is-over', released: 0 });
});

test('a start that was released, and could not leave the line, costs no second permit', async () => {
  const { run, released, permits } = await over(1, { leaves: (tries) => tries > 2 });
  expect(await run()).toEqual({ end: 'idle', released: 1 });
  expect([released, permits()]).toEqual([['e-0'], 1]);
});

test('a start whose release lost its answer is released once more, while the index still shows it', async () => {
  const { run, released, permits } = await over(1, { losesFirstAnswer: true, leaves: (tries) => tries > 2 });
  expect(await run()).toEqual({ end: 'idle', released: 1 });
  expect([released, permits()]).toEqual([['e-0', 'e-0'], 2]);
});

test('after four ticks that failed slowly, those who wait are released', async () => {
  const { run } = await over(3, { failingTicks: 4 });
  expect(await run()).toEqual({ end: 'idle', released: 3 });
});

test('if the calls cannot be read, who waits is released all the same, and the rate stays', async () => {
  const { run, store, begin } = await over(3, { countsFail: true, lasts: 40_000 });
  const state = { lineUntil: 0, windowFrom: begin / 1_000 - 30 };
  await store.replace(rateItem, undefined, { state, version: '1' });
  expect(await run()).toEqual({ end: 'time-is-over', released: 3 });
  expect(store.items.get(rateItem)?.state).toMatchObject({ windowFrom: state.windowFrom });
});

test.each([
  ['at once', false],
  ['after its first permits were refused', true],
])('a tick that cuts the rate reports it once, if it releases %s', async (_, refusesFirstPermit) => {
  const { run, store, messages, begin } = await over(3, { refused: 20, refusesFirstPermit, lasts: 13_000 });
  const state = { lineUntil: 0, windowFrom: begin / 1_000 - 30 };
  await store.replace(rateItem, undefined, { state, version: '1' });
  await run();
  expect(messages).toEqual([logMessages.rateChanged]);
});

test('of a group whose breaker is open, one start in ten seconds is released for its turn', async () => {
  const { run, store, releasedAt, begin } = await over(2);
  const opened = { since: begin - 60_000, pause: 30, turn: { at: begin - 30_000 } };
  const group = { name: 'bank', failed: [['e-9', begin - 60_000]], opened };
  await store.replace('orders', undefined, { state: { groups: [group] }, version: '1' });
  expect(await run()).toEqual({ end: 'idle', released: 2 });
  expect(releasedAt).toEqual([0, 10_000]);
});

test('without a rate, who waits is released slowly at first: ten a second', async () => {
  const { run, releasedAt } = await over(300, { isFree: true, lasts: 35_000 });
  await run();
  const within = (from: number, to: number) => releasedAt.filter((at) => at >= from && at < to).length;
  expect(within(0, 10_000)).toBeGreaterThan(85);
  expect(within(0, 10_000)).toBeLessThanOrEqual(100);
  expect(within(11_000, 21_000)).toBeGreaterThan(150);
});

test('a tick reads 40 pages of the line at most, and 8 of a lane', async () => {
  const lane = await over(25 * 45, { groups: 45, lasts: 15_000 });
  await lane.run();
  expect(lane.queriesOfFirstTick()).toBeLessThanOrEqual(10);
});
