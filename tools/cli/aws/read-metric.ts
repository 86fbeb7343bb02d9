import { CloudWatchClient, GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch';
import {
  type MetricName,
  metricsNamespace,
  metricsService,
} from '../../../lib/observability/metric-names.ts';
import type { Deployment } from './deployment.ts';
import { logNames } from './log-names.ts';
import { type LoggedFields, logGroupsOf, logsClient, readFunctionLogs } from './logs.ts';

type MetricId = {
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

type MetricQuery = {
  readonly since: Date;
  readonly until: Date;
  readonly periodSeconds: number;
  readonly statistic: 'Sum' | 'Maximum' | 'SampleCount' | 'p50' | 'p95';
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
      ...(isPercentile(statistic) ? { ExtendedStatistics: [statistic] } : { Statistics: [statistic] }),
    }),
  );
  return Datapoints.flatMap(({ Timestamp, ExtendedStatistics, ...statistics }) => {
    const value = isPercentile(statistic) ? ExtendedStatistics?.[statistic] : statistics[statistic];
    return Timestamp === undefined || value === undefined ? [] : [{ at: Timestamp.getTime(), value }];
  });
};

const isPercentile = (statistic: MetricQuery['statistic']): statistic is 'p50' | 'p95' =>
  statistic === 'p50' || statistic === 'p95';

/** The nearest rank: the smallest value that at least this share of the values do not exceed. 0 without values. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;

const statisticOf = (values: readonly number[], statistic: MetricQuery['statistic']): number => {
  if (statistic === 'SampleCount') return values.length;
  if (statistic === 'Sum') return values.reduce((sum, value) => sum + value, 0);
  const sorted = values.toSorted((one, other) => one - other);
  return percentile(sorted, statistic === 'Maximum' ? 1 : Number(statistic.slice(1)) / 100);
};

type MetricLine = { readonly name: string; readonly at: number; readonly values: readonly number[] };

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html */
const metricsIn = (fields: LoggedFields): readonly MetricLine[] | undefined => {
  const { Timestamp: at, CloudWatchMetrics: groups } = Object(fields._aws) as Record<string, unknown>;
  if (typeof at !== 'number' || !Array.isArray(groups)) return undefined;
  const names = groups.flatMap(({ Metrics = [] }) => Metrics.map(({ Name }: { Name: string }) => Name));
  return names.map((name) => ({ name, at, values: [fields[name]].flat() as number[] }));
};

export type WantedMetric = { readonly name: MetricName; readonly statistic: MetricQuery['statistic'] };

/**
 * The periods of several metrics, in their order. An emulator makes no metrics of the lines that CloudWatch makes them of, so
 * that they are read there. Throws the SDK's errors.
 */
export const readMetrics = async (
  deployment: Deployment,
  wanted: readonly WantedMetric[],
  period: Omit<MetricQuery, 'statistic'>,
): Promise<readonly (readonly MetricPoint[])[]> => {
  const { client, stage, isEmulated } = deployment;
  if (!isEmulated) {
    const cloudWatch = new CloudWatchClient(client);
    return Promise.all(
      wanted.map(({ name, statistic }) =>
        readMetric(cloudWatch, ownMetric(stage, name), { ...period, statistic }),
      ),
    );
  }
  const groups = await logGroupsOf(logNames, deployment);
  const { items } = await readFunctionLogs(logsClient(client), groups, period.since, metricsIn);
  const lines = Map.groupBy(items.flat(), ({ name }) => name);
  const periodMs = period.periodSeconds * 1_000;
  return wanted.map(({ name, statistic }) => {
    const own = (lines.get(name) ?? []).filter(({ at }) => at >= period.since.getTime());
    const periods = Map.groupBy(own, ({ at }) => Math.floor(at / periodMs) * periodMs);
    return [...periods].map(([at, some]) => {
      const values = some.flatMap((one) => one.values);
      return { at, value: statisticOf(values, statistic) };
    });
  });
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
