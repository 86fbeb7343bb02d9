import { expect, test } from 'vitest';
import { startWindowOf } from '#lib/extraction/start-window.ts';

test('the start window does not count the time in line', () => {
  const requestedAt = '2026-03-01T12:00:00.000Z';
  const now = new Date('2026-03-01T12:00:10.000Z');
  const timings = { startWindow: 900, maxWait: 100 };
  const windowOf = (entry: Parameters<typeof startWindowOf>[0], isWaiting = false) =>
    startWindowOf(entry, { requestedAt, isWaiting }, now, timings);
  expect(windowOf(undefined)).toEqual({ startWindow: 900, waitedMs: 0, hasWaitedTooLong: false });
  expect(windowOf({ waitedMs: 2_000 })).toMatchObject({ startWindow: 902, waitedMs: 2_000 });
  const waiting = { waitedMs: 2_000, waitingSince: '2026-03-01T12:00:03.000Z' };
  expect(windowOf(waiting)).toMatchObject({ startWindow: 909, waitedMs: 9_000 });
  // While it waits it has its turn, until it has waited for 100 s in all: 98 s from its third second on.
  expect(windowOf({ ...waiting, callbackToken: 'token' }, true).startWindow).toBe(101);
  // Nobody can release it: from its third second on it has a start window.
  expect(windowOf(waiting, true).startWindow).toBe(903);
  expect(windowOf({ ...waiting, waitedMs: 93_000 }, true).hasWaitedTooLong).toBe(true);
  expect(windowOf({ ...waiting, waitedMs: 92_999 }, true).hasWaitedTooLong).toBe(false);
  // The clock of who put it in line was ahead.
  expect(windowOf({ waitedMs: 2_000, waitingSince: '2026-03-01T12:00:13.000Z' }).waitedMs).toBe(2_000);
});
