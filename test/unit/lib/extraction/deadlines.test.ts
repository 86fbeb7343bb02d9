import { expect, test } from 'vitest';
import { parseTimings, startWindowOf } from '#lib/extraction/deadlines.ts';
import { dueShardOf } from '#lib/extraction/due.ts';
import { timings } from '../../../support/data/extraction-fixtures.ts';

test('the environment variable is parsed', () => {
  expect(parseTimings(JSON.stringify(timings))).toEqual(timings);
});

const changed = (change: object): string => JSON.stringify({ ...timings, ...change });

test.each([
  ['nothing', ''],
  ['a missing one', changed({ grace: undefined })],
  ['an unknown one', changed({ patience: 1 })],
  ['zero', changed({ pollEvery: 0 })],
  ['a fraction', changed({ pollEvery: 1.5 })],
])('%s is refused at cold start', (_what, json) => {
  expect(() => parseTimings(json)).toThrow(/^TIMINGS has |JSON/);
});

test('an id never changes its partition, so that every release finds existing records', () => {
  // FNV-1a, 32 bits (published test vectors): "" is 0x811c9dc5, "a" is 0xe40c292c, "foobar" is 0xbf9cf968.
  expect(dueShardOf('')).toBe(0x811c9dc5 % 16);
  expect(dueShardOf('a')).toBe(0xe40c292c % 16);
  expect(dueShardOf('foobar')).toBe(0xbf9cf968 % 16);
});

test('the start window does not count the time in line', () => {
  const requestedAt = '2026-03-01T12:00:00.000Z';
  const now = new Date('2026-03-01T12:00:10.000Z');
  const timings = { startWindow: 900, maxWait: 100 };
  const windowOf = (
    entry: Parameters<typeof startWindowOf>[0],
    wait: 'goes-on' | 'ends-now' | 'ended' = 'ends-now',
  ) => startWindowOf(entry, { requestedAt, wait }, now, timings);
  expect(windowOf(undefined)).toEqual({ startWindow: 900, waitedMs: 0, hasWaitedTooLong: false });
  expect(windowOf({ waitedMs: 2_000 })).toMatchObject({ startWindow: 902, waitedMs: 2_000 });
  const waiting = { waitedMs: 2_000, waitingSince: '2026-03-01T12:00:03.000Z' };
  expect(windowOf(waiting)).toMatchObject({ startWindow: 909, waitedMs: 9_000 });
  expect(windowOf(waiting, 'ended')).toMatchObject({ startWindow: 902, waitedMs: 2_000 });
  // While it waits it has its turn, until it has waited for 100 s in all: 98 s from its third second on.
  expect(windowOf({ ...waiting, callbackToken: 'token' }, 'goes-on').startWindow).toBe(101);
  // Nobody can release it: from its third second on it has a start window.
  expect(windowOf(waiting, 'goes-on').startWindow).toBe(903);
  // It was released in its eighth second, and has a start window from then on.
  expect(windowOf({ ...waiting, releasedAt: '2026-03-01T12:00:08.000Z' }, 'goes-on').startWindow).toBe(908);
  expect(windowOf({ ...waiting, waitedMs: 93_000 }, 'goes-on').hasWaitedTooLong).toBe(true);
  expect(windowOf({ ...waiting, waitedMs: 92_999 }, 'goes-on').hasWaitedTooLong).toBe(false);
  // The clock of who put it in line was ahead.
  expect(windowOf({ waitedMs: 2_000, waitingSince: '2026-03-01T12:00:13.000Z' }).waitedMs).toBe(2_000);
});
