import { expect, test } from 'vitest';
import { countSweep, countSweepBegun } from '../../../../lib/observability/count-sweep.ts';
import { compared } from '../../../../lib/observability/counted.ts';

const quiet = { claimed: 0, closed: 0, failed: 0, cutShort: false, oldestOverdue: 0, oldestUnclosed: 0 };

const countsOf = (swept: typeof quiet) => {
  const counts: [name: string, value: number][] = [];
  countSweep(swept, (name, value) => counts.push([name, value]));
  return counts;
};

test('a sweep with nothing to do tells that it ran', () => {
  expect(countsOf(quiet)).toEqual([
    ['Swept', 1],
    ['SweepClaimed', 0],
    ['OldestOverdueSeconds', 0],
    ['OldestUnclosedSeconds', 0],
  ]);
});

test('a sweep that begins tells it at once, with 0 of what alarms calculate with: one that dies tells no more', () => {
  const told: unknown[] = [];
  countSweepBegun(
    (name, value) => told.push([name, value]),
    () => told.push('published'),
  );
  expect(compared).toContain('Swept');
  expect(told).toEqual([['SweepBegun', 1], ...compared.map((name) => [name, 0]), 'published']);
});

test('a sweep in trouble tells that, too', () => {
  const counts = countsOf({
    ...quiet,
    claimed: 7,
    failed: 2,
    cutShort: true,
    oldestOverdue: 12.5,
    oldestUnclosed: 5_000,
  });
  expect(counts).toEqual(
    expect.arrayContaining([
      ['SweepClaimed', 7],
      ['OldestOverdueSeconds', 12.5],
      ['OldestUnclosedSeconds', 5_000],
      ['SweepFailed', 2],
      ['SweepCutShort', 1],
    ]),
  );
});
