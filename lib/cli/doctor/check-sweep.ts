import { type CloudWatchClient, GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch';
import { type MetricName, metricsService } from '../../observability/metric-names.ts';
import { formatSeconds } from '../format-seconds.ts';
import { type Finding, failed, passed } from './finding.ts';

/** Every sweep counts 0 when it starts and 1 when it finishes. */
const sweepFinished: MetricName = 'SweepFinished';

/** Fails where no sweep finished within three of its intervals, as the alarm `sweep-not-running` does. */
export const checkSweep = async (
  client: CloudWatchClient,
  stage: string,
  everyMinutes: number,
  now: Date,
): Promise<Finding> => {
  const within = 3 * everyMinutes * 60;
  const { Datapoints = [] } = await client.send(
    new GetMetricStatisticsCommand({
      Namespace: `Cosecha/${stage}`,
      MetricName: sweepFinished,
      Dimensions: [{ Name: 'service', Value: metricsService }],
      StartTime: new Date(now.getTime() - within * 1_000),
      EndTime: now,
      Period: 60,
      Statistics: ['Sum'],
    }),
  );
  const finished = Datapoints.filter(({ Sum = 0 }) => Sum > 0);
  const last = Math.max(...finished.map(({ Timestamp }) => Timestamp?.getTime() ?? 0));
  if (finished.length > 0) return passed(`last sweep ${formatSeconds((now.getTime() - last) / 1_000)} ago`);
  return failed(
    `no sweep finished within ${formatSeconds(within)}`,
    'Check that its rule is enabled, and read the log of sweep-extractions. `cosecha reconcile --all-due` runs one now.',
  );
};
