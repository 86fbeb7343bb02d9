import { expect, test } from 'vitest';
import { parseTimings } from '#lib/extraction/deadlines.ts';
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
