import { type Count, type MetricName, zeroFilledMetrics } from '../observability/metric-names.ts';
import type { SweepResult } from './sweep.ts';

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
