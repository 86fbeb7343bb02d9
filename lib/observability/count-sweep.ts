import type { Swept } from '../extraction/sweep.ts';
import { type Counted, compared } from './counted.ts';

/** Counts what a sweep did. */
export const countSweep = (swept: Swept, observe: (name: Counted, value: number) => void): void => {
  observe('Swept', 1);
  observe('SweepClaimed', swept.claimed);
  observe('OldestOverdueSeconds', swept.oldestOverdue);
  if (swept.failed > 0) observe('SweepFailed', swept.failed);
  if (swept.cutShort) observe('SweepCutShort', 1);
  for (const name of compared) observe(name, 0);
};
