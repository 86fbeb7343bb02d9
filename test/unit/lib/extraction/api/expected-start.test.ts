import { expect, test } from 'vitest';
import { expectedStartAt, startsBefore } from '#lib/extraction/api/expected-start.ts';
import { lanes, now } from '../../../../support/data/lanes.ts';

test('callers share the rate by turns, so that a short line does not wait for a long one', () => {
  // Of each other caller no more than stand before it with its own, in both priorities.
  expect(startsBefore(lanes, 'app-interactive-0')).toBe(1);
  expect(startsBefore(lanes, 'app-interactive-9')).toBe(9 + 10);
  expect(startsBefore(lanes, 'orders-interactive-0')).toBe(1 + 2);
  expect(startsBefore(lanes, 'orders-background-99')).toBe(99 + 2 + 10);
  expect(startsBefore(lanes, 'another')).toBeUndefined();
  const rate = { lanes, perSecond: 0.5 };
  expect(expectedStartAt(rate, 'app-interactive-0', now)).toBe('2026-03-01T06:00:04.000Z');
  expect(expectedStartAt({ ...rate, isPaused: true }, 'app-interactive-0', now)).toBeUndefined();
  expect(expectedStartAt(rate, 'another', now)).toBeUndefined();
});
