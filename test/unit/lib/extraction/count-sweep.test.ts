import { expect, test } from 'vitest';
import { countSweep, countSweepStarted } from '../../../../lib/extraction/count-sweep.ts';
import { zeroFilledMetrics } from '../../../../lib/observability/metric-names.ts';

const quiet = {
  claimed: 0,
  closed: 0,
  failed: 0,
  cutShort: false,
  oldestOverdueSeconds: 0,
  oldestStuckSeconds: 0,
};

const countsOf = (result: typeof quiet) => {
  const counts: [name: string, value: number][] = [];
  countSweep(result, (name, value = 1) => counts.push([name, value]));
  return counts;
};

test('a sweep with nothing to do counts that it finished', () => {
  expect(countsOf(quiet)).toEqual([
    ['SweepFinished', 1],
    ['SweepClaimed', 0],
    ['OldestOverdueSeconds', 0],
    ['OldestStuckSeconds', 0],
  ]);
});

test('a sweep that starts publishes at once, with 0 for each metric that alarms use in metric math', () => {
  const calls: unknown[] = [];
  countSweepStarted(
    (name, value = 1) => calls.push([name, value]),
    () => calls.push('published'),
  );
  expect(zeroFilledMetrics).toContain('SweepFinished');
  expect(calls).toEqual([['SweepStarted', 1], ...zeroFilledMetrics.map((name) => [name, 0]), 'published']);
});

test('a sweep with failures counts them', () => {
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
