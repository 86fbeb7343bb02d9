import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTimings } from '../../../../lib/extraction/parse-timings.ts';
import { nextLook, plusSeconds } from '../../../../lib/extraction/timings.ts';
import { at, iso, timings } from './fixtures.ts';

test('the environment variable is read as it is', () => {
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

test('what is no JSON is refused at cold start', () => {
  expect(() => parseTimings('900')).toThrow();
  expect(() => parseTimings('')).toThrow();
});

test('a time moved keeps its milliseconds', () => {
  expect(plusSeconds('2026-02-28T23:59:59.123Z', 1)).toBe('2026-03-01T00:00:00.123Z');
  expect(plusSeconds(new Date('2026-01-01T00:00:00.000Z'), 0.5)).toBe('2026-01-01T00:00:00.500Z');
});

describe('the next look', () => {
  test('is never sooner than the floor', () => {
    expect(nextLook(iso(0), at(0), 120, 3_600)).toBe(iso(120));
    expect(nextLook(iso(0), at(119), 120, 3_600)).toBe(iso(119 + 120));
  });

  test('waits as long again as it has waited', () => {
    expect(nextLook(iso(0), at(600), 120, 3_600)).toBe(iso(1_200));
  });

  test('is never later than the ceiling', () => {
    expect(nextLook(iso(0), at(50_000), 120, 3_600)).toBe(iso(53_600));
  });

  test('does not go back where a clock did', () => {
    expect(nextLook(iso(100), at(0), 120, 3_600)).toBe(iso(120));
  });

  test('is always ahead: whatever waits is looked at again', () => {
    fc.assert(
      fc.property(fc.integer({ min: -100, max: 1e6 }), fc.integer({ min: 1, max: 9_999 }), (now, floor) => {
        expect(nextLook(iso(0), at(now), floor, floor + 100) > iso(now)).toBe(true);
      }),
    );
  });
});
