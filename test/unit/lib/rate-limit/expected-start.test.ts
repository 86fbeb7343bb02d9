import { expect, test } from 'vitest';
import { expectedStartAt, startsBefore } from '../../../../lib/rate-limit/expected-start.ts';
import { lanes, now } from '../../../support/data/lanes.ts';

test('lanes share the rate by turns, so that a short lane does not wait for a long one', () => {
  expect(startsBefore(lanes, 'app-interactive-0')).toBe(2);
  expect(startsBefore(lanes, 'app-interactive-9')).toBe(9 + 10 + 2);
  expect(startsBefore(lanes, 'orders-background-99')).toBe(99 + 2 + 10);
  expect(startsBefore(lanes, 'another')).toBeUndefined();
  const rate = { lanes, perSecond: 0.5 };
  expect(expectedStartAt(rate, 'app-interactive-0', now)).toBe('2026-03-01T06:00:06.000Z');
  expect(expectedStartAt(rate, 'another', now)).toBeUndefined();
  const later = { ...rate, notBefore: '2026-03-01T06:01:00.000Z' };
  expect(expectedStartAt(later, 'app-interactive-0', now)).toBe('2026-03-01T06:01:06.000Z');
});
