import { type Count, type MetricName, zeroFilledMetrics } from '../observability/metric-names.ts';

/** What a sweep did. */
export type SweepResult = {
  readonly claimed: number;
  readonly closed: number;
  readonly failed: number;
  /** The time ended before the index was empty. The next sweep continues. */
  readonly cutShort: boolean;
  /** How late the most overdue record was, in seconds; 0 if nothing was due. */
  readonly oldestOverdueSeconds: number;
  /** For how long the worst of the records that are still open has been stuck, in seconds; 0 if none. */
  readonly oldestStuckSeconds: number;
};

/**
 * Counts that a sweep starts, adds 0 to the metrics of metric math, and publishes both at once. Metrics that wait
 * until the end of the invocation are lost if the process is killed.
 */
export const countSweepStarted = (count: Count<MetricName>, publish: () => void): void => {
  count('SweepStarted');
  for (const metric of zeroFilledMetrics) count(metric, 0);
  publish();
};

/** Counts what a finished sweep did. */
export const countSweep = (result: SweepResult, count: Count<MetricName>): void => {
  count('SweepFinished');
  count('SweepClaimed', result.claimed);
  count('OldestOverdueSeconds', result.oldestOverdueSeconds);
  count('OldestStuckSeconds', result.oldestStuckSeconds);
  if (result.failed > 0) count('SweepFailed', result.failed);
  if (result.cutShort) count('SweepCutShort');
};
