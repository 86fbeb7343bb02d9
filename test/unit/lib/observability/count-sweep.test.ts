import { expect, test } from 'vitest';
import { countSweep, countSweepBegun } from '../../../../lib/observability/count-sweep.ts';
import { compared } from '../../../../lib/observability/counted.ts';

const quiet = { claimed: 0, closed: 0, failed: 0, cutShort: false, oldestOverdue: 0 };

const countsOf = (swept: typeof quiet) => {
  const counts: [name: string, value: number][] = [];
  countSweep(swept, (name, value) => counts.push([name, value]));
  return counts;
};

test('a sweep with nothing to do tells that it ran, and 0 of what alarms calculate with', () => {
  const zeros = compared.map((name) => [name, 0]);
  expect(countsOf(quiet)).toEqual([['Swept', 1], ['SweepClaimed', 0], ['OldestOverdueSeconds', 0], ...zeros]);
});

test('a sweep that begins tells it at once, and that it has not ended: one that dies tells nothing more', () => {
  const told: unknown[] = [];
  countSweepBegun(
    (name, value) => told.push([name, value]),
    () => told.push('published'),
  );
  expect(told).toEqual([['SweepBegun', 1], ['Swept', 0], 'published']);
});

test('a sweep in trouble tells that, too', () => {
  const counts = countsOf({ ...quiet, claimed: 7, failed: 2, cutShort: true, oldestOverdue: 12.5 });
  expect(counts).toEqual(
    expect.arrayContaining([
      ['SweepClaimed', 7],
      ['OldestOverdueSeconds', 12.5],
      ['SweepFailed', 2],
      ['SweepCutShort', 1],
    ]),
  );
});
