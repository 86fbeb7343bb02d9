import { expect, test } from 'vitest';
import type { Place } from '../../../../../lib/rate-limit/start-line.ts';
import {
  describeRate,
  expectedStartAt,
  type LineLane,
  type StartRate,
  startsBefore,
} from '../../../../../tools/cli/terminal/describe-rate.ts';

const now = new Date('2026-03-01T06:00:00.000Z');
const roles = 'arn:aws:iam::111122223333:role/';

const lane = (caller: string, priority: Place['priority'], count: number): LineLane => ({
  caller: `${roles}${caller}`,
  priority,
  waiting: Array.from({ length: count }, (_, index) => ({
    caller: `${roles}${caller}`,
    priority,
    group: 'bank',
    requestedAt: now.toISOString(),
    extractionId: `${caller}-${priority}-${index}`,
  })),
});

const lanes = [
  lane('orders', 'background', 100),
  lane('orders', 'interactive', 2),
  lane('app', 'interactive', 10),
];
const byHand = { perSecond: 3, reason: 'as agreed', by: `${roles}ada`, since: now.getTime() - 60_000 };

test.each<readonly [string, StartRate, readonly string[]]>([
  [
    'no limit',
    { lanes: [], from: 'none' },
    ['starts have no limit until the provider answers 429', 'no start waits'],
  ],
  [
    'a setting, and a line',
    { lanes, from: 'setting', perSecond: 4, notBefore: '2026-03-01T06:00:30.000Z' },
    [
      '4 starts a second are made, as startsPerSecond says',
      'the provider asked for no start before 2026-03-01T06:00:30.000Z',
      '112 starts wait, the last of them for 28 s',
      '  100 of orders, background',
      '  2 of orders, interactive',
      '  10 of app, interactive',
    ],
  ],
  [
    'by hand',
    { lanes: [], from: 'hand', perSecond: 3, byHand },
    ['3 starts a second are made, set by ada 1 min ago: as agreed', 'no start waits'],
  ],
  [
    'learnt, below what was set by hand',
    { lanes: [], from: 'learnt', perSecond: 0.123456, byHand },
    [
      '0.123 starts a second are made, as the provider was found to take',
      '3 were set by ada 1 min ago: as agreed',
      'no start waits',
    ],
  ],
])('the rate is described: %s', (_, rate, lines) => {
  expect(describeRate(rate, now)).toEqual(lines);
});

test('lanes share the rate by turns, so that a short lane does not wait for a long one', () => {
  expect(startsBefore(lanes, 'app-interactive-0')).toBe(2);
  expect(startsBefore(lanes, 'app-interactive-9')).toBe(9 + 10 + 2);
  expect(startsBefore(lanes, 'orders-background-99')).toBe(99 + 2 + 10);
  expect(startsBefore(lanes, 'another')).toBeUndefined();
  const rate = { lanes, from: 'setting', perSecond: 0.5 } as const;
  expect(expectedStartAt(rate, 'app-interactive-0', now)).toBe('2026-03-01T06:00:06.000Z');
  expect(expectedStartAt(rate, 'another', now)).toBeUndefined();
});
