import type { Extraction } from './record.ts';
import type { Timings } from './timings.ts';

/**
 * An attempt is dead once its STARTING write is older than start-task's function timeout: Lambda has ended it by then,
 * so it can no longer be about to POST. Until then everybody else leaves `STARTING` alone.
 */
export const isStartStale = (row: Extraction, now: Date, timings: Timings): boolean =>
  row.startingAt === undefined ||
  now.getTime() - new Date(row.startingAt).getTime() > timings.startTimeout * 1000;
