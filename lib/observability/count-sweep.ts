import type { SweepResult } from '../extraction/sweep.ts';
import { type MetricName, zeroFilledMetrics } from './metric-names.ts';

type Count = (name: MetricName, value: number) => void;

/**
 * Counts that a sweep begins, adds 0 to what alarms calculate with, and has it told now: what is kept until the end
 * dies with the process.
 */
export const countSweepStarted = (observe: Count, publish: () => void): void => {
  observe('SweepStarted', 1);
  for (const name of zeroFilledMetrics) observe(name, 0);
  publish();
};

/** Counts what a sweep did. */
export const countSweep = (swept: SweepResult, observe: Count): void => {
  observe('SweepFinished', 1);
  observe('SweepClaimed', swept.claimed);
  observe('OldestOverdueSeconds', swept.oldestOverdueSeconds);
  observe('OldestStuckSeconds', swept.oldestStuckSeconds);
  if (swept.failed > 0) observe('SweepFailed', swept.failed);
  if (swept.cutShort) observe('SweepCutShort', 1);
};
