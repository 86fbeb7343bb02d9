import type { Swept } from '../extraction/sweep.ts';
import { type Counted, compared } from './counted.ts';

type Observe = (name: Counted, value: number) => void;

/**
 * Counts that a sweep begins, adds 0 to what alarms calculate with, and has it told now: what is kept until the end
 * dies with the process.
 */
export const countSweepBegun = (observe: Observe, publish: () => void): void => {
  observe('SweepBegun', 1);
  for (const name of compared) observe(name, 0);
  publish();
};

/** Counts what a sweep did. */
export const countSweep = (swept: Swept, observe: Observe): void => {
  observe('Swept', 1);
  observe('SweepClaimed', swept.claimed);
  observe('OldestOverdueSeconds', swept.oldestOverdue);
  observe('OldestUnclosedSeconds', swept.oldestUnclosed);
  if (swept.failed > 0) observe('SweepFailed', swept.failed);
  if (swept.cutShort) observe('SweepCutShort', 1);
};
