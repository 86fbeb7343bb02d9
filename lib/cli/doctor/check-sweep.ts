import { type CloudWatchClient, GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch';
import { type MetricName, metricsService } from '../../observability/metric-names.ts';
import { formatSeconds } from '../format-seconds.ts';
import { type Finding, failed, passed } from './finding.ts';

/** What every sweep counts as it ends. As it begins, it tells 0 of it. */
const swept: MetricName = 'SweepFinished';

/** Whether a sweep ended within three of its intervals, as the alarm `sweep-not-running` asks. */
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
      MetricName: swept,
      Dimensions: [{ Name: 'service', Value: metricsService }],
      StartTime: new Date(now.getTime() - within * 1_000),
      EndTime: now,
      Period: 60,
      Statistics: ['Sum'],
    }),
  );
  const ended = Datapoints.filter(({ Sum = 0 }) => Sum > 0);
  const last = Math.max(...ended.map(({ Timestamp }) => Timestamp?.getTime() ?? 0));
  if (ended.length > 0) return passed(`last sweep ${formatSeconds((now.getTime() - last) / 1_000)} ago`);
  return failed(
    `no sweep has ended within ${formatSeconds(within)}`,
    'Is its rule enabled, does sweep-extractions start, and does it live? Its log says; `cosecha reconcile --all-due` runs one now.',
  );
};
