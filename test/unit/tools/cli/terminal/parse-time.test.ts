import { expect, test } from 'vitest';
import { parseDuration, parseSince } from '../../../../../tools/cli/terminal/parse-time.ts';

test.each([
  ['90s', 90],
  ['15min', 900],
  ['2h', 7_200],
  ['1d', 86_400],
  ['15', undefined],
  ['-2h', undefined],
  ['2 h', undefined],
  ['2m', undefined],
])('the duration "%s" has %s seconds', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

test.each([
  ['2h', '2026-11-22T10:00:00.000Z'],
  ['2026-11-22T08:00:00Z', '2026-11-22T08:00:00.000Z'],
  ['2026-11-22', '2026-11-22T00:00:00.000Z'],
  ['yesterday', undefined],
  ['2026-13-01', undefined],
  ['11', undefined],
])('since "%s" is since %s at noon', (text, since) => {
  expect(parseSince(text)?.(new Date('2026-11-22T12:00:00Z')).toISOString()).toBe(since);
});
