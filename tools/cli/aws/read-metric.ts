import { type CloudWatchClient, GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch';
import {
  type MetricName,
  metricsNamespace,
  metricsService,
} from '../../../lib/observability/metric-names.ts';

export type MetricId = {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
};

export const ownMetric = (stage: string, name: MetricName): MetricId => ({
  namespace: metricsNamespace(stage),
  name,
  dimensions: { service: metricsService },
});

export type MetricPoint = {
  /** When the period began, in milliseconds since 1970. */
  readonly at: number;
  readonly value: number;
};

export type MetricQuery = {
  readonly since: Date;
  readonly until: Date;
  readonly periodSeconds: number;
  readonly statistic: 'Sum' | 'Maximum' | 'SampleCount';
};

/** The periods in which a metric has a value, in any order: at most 1,440. Throws the SDK's errors. */
export const readMetric = async (
  client: CloudWatchClient,
  { namespace, name, dimensions }: MetricId,
  { since, until, periodSeconds, statistic }: MetricQuery,
): Promise<readonly MetricPoint[]> => {
  const { Datapoints = [] } = await client.send(
    new GetMetricStatisticsCommand({
      Namespace: namespace,
      MetricName: name,
      Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
      StartTime: since,
      EndTime: until,
      Period: periodSeconds,
      Statistics: [statistic],
    }),
  );
  return Datapoints.flatMap(({ Timestamp, [statistic]: value }) =>
    Timestamp === undefined || value === undefined ? [] : [{ at: Timestamp.getTime(), value }],
  );
};

/** The sum of a metric since a time, by whole minutes, or how often it was counted. Throws the SDK's errors. */
export const sumMetric = async (
  client: CloudWatchClient,
  metric: MetricId,
  since: Date,
  until: Date,
  statistic: 'Sum' | 'SampleCount' = 'Sum',
) => {
  const points = await readMetric(client, metric, { since, until, periodSeconds: 60, statistic });
  return points.reduce((sum, { value }) => sum + value, 0);
};
