import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isStartStale,
  nextReconcileAt,
  plusSeconds,
  stuckSeconds,
} from '../../../../lib/extraction/deadlines.ts';
import { parseTimings } from '../../../../lib/extraction/parse-timings.ts';
import type { ExtractionStatus } from '../../../../lib/extraction/record.ts';
import { at, closedExtraction, extractionIn, iso, timings } from '../../../support/extraction-fixtures.ts';

test('the environment variable is parsed', () => {
  expect(parseTimings(JSON.stringify(timings))).toEqual(timings);
});

test.each<readonly [string, object]>([
  ['a missing one', { grace: undefined }],
  ['an unknown one', { patience: 1 }],
  ['zero', { pollEvery: 0 }],
  ['a negative one', { pollEvery: -1 }],
  ['a fraction', { pollEvery: 1.5 }],
  ['a text', { pollEvery: '120' }],
])('%s is refused at cold start', (_what, change) => {
  expect(() => parseTimings(JSON.stringify({ ...timings, ...change }))).toThrow();
});

test('malformed JSON is refused at cold start', () => {
  expect(() => parseTimings('900')).toThrow();
  expect(() => parseTimings('')).toThrow();
});

test('adding seconds keeps the milliseconds', () => {
  expect(plusSeconds('2026-02-28T23:59:59.123Z', 1)).toBe('2026-03-01T00:00:00.123Z');
  expect(plusSeconds(new Date('2026-01-01T00:00:00.000Z'), 0.5)).toBe('2026-01-01T00:00:00.500Z');
});

describe('the next reconcile', () => {
  test('is never sooner than the floor', () => {
    expect(nextReconcileAt(iso(0), at(0), 120, 3_600)).toBe(iso(120));
    expect(nextReconcileAt(iso(0), at(119), 120, 3_600)).toBe(iso(119 + 120));
  });

  test('comes after a pause as long as the wait so far', () => {
    expect(nextReconcileAt(iso(0), at(600), 120, 3_600)).toBe(iso(1_200));
  });

  test('is never later than the ceiling', () => {
    expect(nextReconcileAt(iso(0), at(50_000), 120, 3_600)).toBe(iso(53_600));
  });

  test('is not in the past if a clock was set back', () => {
    expect(nextReconcileAt(iso(100), at(0), 120, 3_600)).toBe(iso(120));
  });

  test('is always in the future', () => {
    fc.assert(
      fc.property(fc.integer({ min: -100, max: 1e6 }), fc.integer({ min: 1, max: 9_999 }), (now, floor) => {
        expect(nextReconcileAt(iso(0), at(now), floor, floor + 100) > iso(now)).toBe(true);
      }),
    );
  });
});

const starting = extractionIn('STARTING', { startingAt: iso(10) });

test.each([
  [10, false],
  [10 + 59.999, false],
  // Lambda ends it at 60 s: until that very moment it may yet POST.
  [10 + 60, false],
  [10 + 60.001, true],
  [10 + 86_400, true],
  // A clock that is behind the one that made the STARTING write.
  [0, false],
])('a start that was claimed at 10 s is stale at %f s: %s', (now, dead) => {
  expect(isStartStale(starting, at(now), timings)).toBe(dead);
});

test('a start without a STARTING write is stale', () => {
  const { startingAt: _startingAt, ...unmarked } = starting;
  expect(isStartStale(unmarked, at(0), timings)).toBe(true);
});

const { startWindow, startTimeout, deadline, machineSlack, grace, collectFor } = timings;

test.each([
  ['REQUESTED', {}, startWindow],
  ['STARTING', { startingAt: iso(100) }, 100 + startTimeout],
  ['RUNNING', {}, deadline + machineSlack],
  ['TIMED_OUT', { settledAt: iso(8_000) }, 8_000 + grace],
  ['COMPLETED', { settledAt: iso(50) }, 50 + collectFor],
  // A correction, come with the end of grace: a day to collect is left.
  ['FAILED', { settledAt: iso(90_000) }, 90_000 + collectFor],
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
