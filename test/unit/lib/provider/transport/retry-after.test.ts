import { expect, test } from 'vitest';
import { parseRetryAfter, retryAtOf } from '../../../../../lib/provider/transport/retry-after.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const secondsUntil = (header: string | null): number | undefined => {
  const at = retryAtOf(parseRetryAfter(header), now);
  return at === undefined ? undefined : (at - now.getTime()) / 1_000;
};

test.each([
  ['120', 120],
  [' 7 ', 7],
  ['Sun, 01 Mar 2026 12:02:00 GMT', 120],
  ['Sunday, 01-Mar-26 12:02:00 GMT', 120],
  ['Sun Mar  1 12:02:00 2026 GMT', 120],
])('%s is a time to wait', (header, seconds) => {
  expect(secondsUntil(header)).toBe(seconds);
});

test.each([['864000'], ['Wed, 01 Apr 2026 12:00:00 GMT']])('%s is honoured for an hour at most', (header) => {
  expect(secondsUntil(header)).toBe(3_600);
});

test.each([['0'], ['Sun, 01 Mar 2026 11:59:59 GMT'], ['-5'], ['5.5'], ['soon'], [''], [null]])(
  '%s is no time to wait',
  (header) => {
    expect(secondsUntil(header)).toBeUndefined();
  },
);
