import { expect, test } from 'vitest';
import { countSweep, countSweepStarted } from '../../../../lib/observability/count-sweep.ts';
import { zeroFilledMetrics } from '../../../../lib/observability/metric-names.ts';

const quiet = {
  claimed: 0,
  closed: 0,
  failed: 0,
  cutShort: false,
  oldestOverdueSeconds: 0,
  oldestStuckSeconds: 0,
};

const countsOf = (swept: typeof quiet) => {
  const counts: [name: string, value: number][] = [];
  countSweep(swept, (name, value) => counts.push([name, value]));
  return counts;
};

test('a sweep with nothing to do tells that it ran', () => {
  expect(countsOf(quiet)).toEqual([
    ['SweepFinished', 1],
    ['SweepClaimed', 0],
    ['OldestOverdueSeconds', 0],
    ['OldestStuckSeconds', 0],
  ]);
});

test('a sweep that begins tells it at once, with 0 of what alarms calculate with: one that dies tells no more', () => {
  const told: unknown[] = [];
  countSweepStarted(
    (name, value) => told.push([name, value]),
    () => told.push('published'),
  );
  expect(zeroFilledMetrics).toContain('SweepFinished');
  expect(told).toEqual([['SweepStarted', 1], ...zeroFilledMetrics.map((name) => [name, 0]), 'published']);
});

test('a sweep in trouble tells that, too', () => {
  const counts = countsOf({
    ...quiet,
    claimed: 7,
    failed: 2,
    cutShort: true,
    oldestOverdueSeconds: 12.5,
    oldestStuckSeconds: 5_000,
  });
  expect(counts).toEqual(
    expect.arrayContaining([
      ['SweepClaimed', 7],
      ['OldestOverdueSeconds', 12.5],
      ['OldestStuckSeconds', 5_000],
      ['SweepFailed', 2],
      ['SweepCutShort', 1],
    ]),
  );
});
