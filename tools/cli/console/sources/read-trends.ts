import type { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import type { MetricName } from '../../../../lib/observability/metric-names.ts';
import { queueNameOf } from '../../aws/queues.ts';
import {
  type MetricId,
  type MetricPoint,
  type MetricQuery,
  ownMetric,
  readMetric,
} from '../../aws/read-metric.ts';
import type { Trend } from './sources.ts';

const hour = 3_600_000;

/** The hours that are compared. Each began and ended so many hours ago. */
const comparedHours = [1, 2, 25].map((begin) => ({ begin, end: begin - 1 }));

/** The last hour, the one before it, and the same hour a day ago. Undefined is an hour without any value. */
const compareHours = (points: readonly MetricPoint[], statistic: MetricQuery['statistic'], now: Date) =>
  comparedHours.map(({ begin, end }) => {
    const values = points.flatMap(({ at, value }) => {
      const age = now.getTime() - at;
      return age > end * hour && age <= begin * hour ? [value] : [];
    });
    if (values.length === 0) return undefined;
    return statistic === 'Sum' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
  });

type TrendSources = Readonly<Record<'stage' | 'reconcileQueueUrl' | 'deadLetterQueueUrl', string>>;

/** The values of several metrics are one figure. */
type Figure = Pick<Trend, 'figure' | 'unit'> & {
  readonly statistic: MetricQuery['statistic'];
  readonly metrics: readonly MetricId[];
};

const figuresOf = ({ stage, reconcileQueueUrl, deadLetterQueueUrl }: TrendSources): readonly Figure[] => {
  const counted = (figure: string, ...names: readonly MetricName[]): Figure => {
    const metrics = names.map((name) => ownMetric(stage, name));
    return { figure, unit: 'count', statistic: 'Sum', metrics };
  };
  const most = (figure: string, unit: Trend['unit'], metric: MetricId): Figure => {
    return { figure, unit, statistic: 'Maximum', metrics: [metric] };
  };
  /** "Available CloudWatch metrics for Amazon SQS": the SQS developer guide. */
  const inQueue = (url: string, name: 'NumberOfMessagesVisible' | 'AgeOfOldestMessage'): MetricId => {
    const dimensions = { QueueName: queueNameOf(url) };
    return { namespace: 'AWS/SQS', name: `Approximate${name}`, dimensions };
  };
  const age = inQueue(reconcileQueueUrl, 'AgeOfOldestMessage');
  const waiting = inQueue(reconcileQueueUrl, 'NumberOfMessagesVisible');
  const dead = inQueue(deadLetterQueueUrl, 'NumberOfMessagesVisible');
  const settled = ['SettledByWebhook', 'SettledByStart', 'SettledByReconcile'] as const;
  return [
    counted('Settled by a status of the provider', ...settled),
    counted('Of these, the webhook was missed', 'WebhookMissed'),
    counted('Ended as UNCONFIRMED or TIMED_OUT', 'Unconfirmed', 'TimedOut'),
    counted('Calls held by an operator or a breaker', 'StartsHeld', 'ReadsHeld'),
    most('Due: the oldest', 'seconds', ownMetric(stage, 'OldestOverdueSeconds')),
    most('Reconcile queue: the oldest message', 'seconds', age),
    most('Reconcile queue: most waiting', 'count', waiting),
    most('Dead letters: most waiting', 'count', dead),
  ];
};

export const readTrends = async (client: CloudWatchClient, sources: TrendSources, now: Date) => {
  const since = new Date(now.getTime() - Math.max(...comparedHours.map(({ begin }) => begin)) * hour);
  return Promise.all(
    figuresOf(sources).map(async ({ figure, unit, statistic, metrics }) => {
      // CloudWatch need not begin its periods where the hour begins, so that they are short: 25 h have 300 of them.
      const query = { since, until: now, periodSeconds: 300, statistic };
      const points = await Promise.all(metrics.map((metric) => readMetric(client, metric, query)));
      return { figure, unit, hours: compareHours(points.flat(), statistic, now) };
    }),
  );
};
