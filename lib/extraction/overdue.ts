import { secondsSince } from './deadlines.ts';
import type { Extraction } from './record.ts';

/**
 * In seconds. A sweep finds what is due within one interval. If one sweep fails or is cut short, it takes two. At three
 * intervals, 15 minutes by default, sweeps do not reconcile it.
 */
export const overdueAfterSeconds = (sweepEveryMinutes: number): number => 3 * sweepEveryMinutes * 60;

/** Whether an open record is overdue. Before that, from `dueAt` on, it is due. */
export const isOverdue = (
  { dueAt }: Pick<Extraction, 'dueAt'>,
  now: Date,
  sweepEveryMinutes: number,
): boolean => dueAt !== undefined && secondsSince(dueAt, now) > overdueAfterSeconds(sweepEveryMinutes);
