import type { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import type { MetricName } from '../../../lib/observability/metric-names.ts';
import { queueNameOf } from '../aws/queues.ts';
import {
  type MetricId,
  type MetricPoint,
  type MetricQuery,
  ownMetric,
  readMetric,
} from '../aws/read-metric.ts';
import type { Trend } from './sources.ts';

const hour = 3_600_000;

/** The hours that are compared. Each began and ended so many hours ago. */
const comparedHours = [1, 2, 25].map((begin) => ({ begin, end: begin - 1 }));

const comparedSince = (now: Date): Date =>
  new Date(now.getTime() - Math.max(...comparedHours.map(({ begin }) => begin)) * hour);

/** The last hour, the one before it, and the same hour a day ago. Undefined is an hour without any value. */
const compareHours = (
  points: readonly MetricPoint[],
  statistic: MetricQuery['statistic'],
  now: Date,
): readonly (number | undefined)[] =>
  comparedHours.map(({ begin, end }) => {
    const values = points.flatMap(({ at, value }) => {
      const age = now.getTime() - at;
      return age > end * hour && age <= begin * hour ? [value] : [];
    });
    if (values.length === 0) return undefined;
    return statistic === 'Sum' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
  });

export type TrendSources = {
  readonly stage: string;
  readonly reconcileQueueUrl: string;
  readonly deadLetterQueueUrl: string;
};

/** The values of several metrics are one figure. */
type Figure = Pick<Trend, 'figure' | 'unit'> & {
  readonly statistic: MetricQuery['statistic'];
  readonly metrics: readonly MetricId[];
};

/** "Available CloudWatch metrics for Amazon SQS": the SQS developer guide. */
type QueueMetric = 'ApproximateNumberOfMessagesVisible' | 'ApproximateAgeOfOldestMessage';

const queueMetric = (url: string, name: QueueMetric): MetricId => ({
  namespace: 'AWS/SQS',
  name,
  dimensions: { QueueName: queueNameOf(url) },
});

const figuresOf = ({ stage, reconcileQueueUrl, deadLetterQueueUrl }: TrendSources): readonly Figure[] => {
  const counted = (figure: string, ...names: readonly MetricName[]): Figure => ({
    figure,
    unit: 'count',
    statistic: 'Sum',
    metrics: names.map((name) => ownMetric(stage, name)),
  });
  const most = (figure: string, unit: Trend['unit'], metric: MetricId): Figure => ({
    figure,
    unit,
    statistic: 'Maximum',
    metrics: [metric],
  });
  return [
    counted(
      'Settled by a status of the provider',
      'SettledByWebhook',
      'SettledByStart',
      'SettledByReconcile',
    ),
    counted('Of these, the webhook was missed', 'WebhookMissed'),
    counted('Ended as UNCONFIRMED or TIMED_OUT', 'Unconfirmed', 'TimedOut'),
    counted('Calls held by a breaker', 'StartsHeld', 'ReadsHeld'),
    most('Due: the oldest', 'seconds', ownMetric(stage, 'OldestOverdueSeconds')),
    most(
      'Reconcile queue: the oldest message',
      'seconds',
      queueMetric(reconcileQueueUrl, 'ApproximateAgeOfOldestMessage'),
    ),
    most(
      'Reconcile queue: most waiting',
      'count',
      queueMetric(reconcileQueueUrl, 'ApproximateNumberOfMessagesVisible'),
    ),
    most(
      'Dead letters: most waiting',
      'count',
      queueMetric(deadLetterQueueUrl, 'ApproximateNumberOfMessagesVisible'),
    ),
  ];
};

/** The figures of the health page that CloudWatch keeps. Throws the SDK's errors. */
export const readTrends = async (
  client: CloudWatchClient,
  sources: TrendSources,
  now: Date,
): Promise<readonly Trend[]> => {
  const since = comparedSince(now);
  return Promise.all(
    figuresOf(sources).map(async ({ figure, unit, statistic, metrics }) => {
      // CloudWatch need not begin its periods where the hour begins, so that they are short: 25 h have 300 of them.
      const query = { since, until: now, periodSeconds: 300, statistic };
      const points = await Promise.all(metrics.map((metric) => readMetric(client, metric, query)));
      return { figure, unit, hours: compareHours(points.flat(), statistic, now) };
    }),
  );
};
