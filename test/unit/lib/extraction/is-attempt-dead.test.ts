import { expect, test } from 'vitest';
import { isAttemptDead } from '../../../../lib/extraction/is-attempt-dead.ts';
import { at, extractionIn, iso, timings } from './fixtures.ts';

const starting = extractionIn('STARTING', { startingAt: iso(10) });

test.each([
  [10, false],
  [10 + 59.999, false],
  // Lambda ends it at 60 s: until that very moment it may yet POST.
  [10 + 60, false],
  [10 + 60.001, true],
  [10 + 86_400, true],
  // A clock that is behind the one that made the mark.
  [0, false],
])('an attempt that began at 10 s is dead at %f s: %s', (now, dead) => {
  expect(isAttemptDead(starting, at(now), timings)).toBe(dead);
});

test('an attempt without a mark is none', () => {
  const { startingAt: _startingAt, ...unmarked } = starting;
  expect(isAttemptDead(unmarked, at(0), timings)).toBe(true);
});
