import { expect, test } from 'vitest';
import { parseTimings, stuckSeconds } from '#lib/extraction/deadlines.ts';
import { dueShardOf } from '#lib/extraction/due.ts';
import type { ExtractionStatus } from '#lib/extraction/record.ts';
import {
  at,
  closedExtraction,
  extractionIn,
  iso,
  timings,
} from '../../../support/data/extraction-fixtures.ts';

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

const { startWindow, maxWait, startTimeout, deadline, machineSlack, grace, collectFor } = timings;

test.each([
  ['REQUESTED', {}, startWindow + maxWait],
  ['STARTING', { startingAt: iso(100) }, 100 + startTimeout],
  ['RUNNING', {}, deadline + machineSlack],
  ['TIMED_OUT', { settledAt: iso(8_000) }, 8_000 + grace],
  ['COMPLETED', { settledAt: iso(50) }, 50 + collectFor],
] as const satisfies readonly (readonly [ExtractionStatus, object, number])[])(
  '%s with %o is stuck after %d s, however often it was rescheduled',
  (status, fields, movesOn) => {
    const record = extractionIn(status, { ...fields, dueAt: iso(1_000_000) });
    expect(stuckSeconds(record, at(movesOn - 10), timings)).toBe(0);
    expect(stuckSeconds(record, at(movesOn), timings)).toBe(0);
    expect(stuckSeconds(record, at(movesOn + 12.5), timings)).toBe(12.5);
  },
);

test('a closed record is never stuck', () => {
  const closed = closedExtraction({ status: 'COMPLETED', settledAt: iso(50) });
  expect(stuckSeconds(closed, at(10_000_000), timings)).toBe(0);
});

test('an id never changes its partition, so that every release finds existing records', () => {
  // FNV-1a, 32 bits (published test vectors): "" is 0x811c9dc5, "a" is 0xe40c292c, "foobar" is 0xbf9cf968.
  expect(dueShardOf('')).toBe(0x811c9dc5 % 16);
  expect(dueShardOf('a')).toBe(0xe40c292c % 16);
  expect(dueShardOf('foobar')).toBe(0xbf9cf968 % 16);
});
