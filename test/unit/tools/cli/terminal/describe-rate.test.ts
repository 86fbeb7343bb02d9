import { expect, test } from 'vitest';
import { lanes, now, roles } from '#support/data/lanes.ts';
import {
  describeLine,
  describeRate,
  describeWaiting,
  type StartRate,
} from '#tools/cli/terminal/describe-rate.ts';

const byHand = { perSecond: 3, reason: 'as agreed', by: `${roles}ada`, since: now.getTime() - 60_000 };

test.each<readonly [string, StartRate, readonly string[]]>([
  [
    'no limit',
    { lanes: [], from: 'none' },
    ['starts have no limit until the provider answers 429', 'no start waits'],
  ],
  [
    'a setting, and a line',
    { lanes, from: 'setting', perSecond: 4 },
    [
      '4 starts a second are made, as startsPerSecond says',
      '112 starts wait in line, and the last one starts in about 28 s (06:00:28Z)',
      '  100 of orders, background',
      '  2 of orders, interactive',
      '  10 of app, interactive',
    ],
  ],
  [
    'a line of which only the beginning was counted',
    { lanes: lanes.slice(2), isComplete: false, from: 'setting', perSecond: 4 },
    [
      '4 starts a second are made, as startsPerSecond says',
      'more than 10 starts wait in line, and the last one starts in more than 3 s (06:00:02Z)',
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

test.each<readonly [string, Partial<StartRate>]>([
  ['10 starts wait in line; starts are paused', { perSecond: 4, isPaused: true }],
  ['10 starts wait in line; no rate is known yet', {}],
  ['0 starts wait in line', { lanes: [] }],
])('a line without an end that is known says why: %s', (text, rate) => {
  expect(describeWaiting({ lanes: lanes.slice(2), from: 'none', ...rate }, now)).toBe(text);
});

test('without a limit and a line, other commands show nothing', () => {
  expect(describeLine({ lanes: [], from: 'none' }, now)).toEqual([]);
  expect(describeLine({ lanes: [], from: 'setting', perSecond: 4 }, now)).not.toEqual([]);
});
