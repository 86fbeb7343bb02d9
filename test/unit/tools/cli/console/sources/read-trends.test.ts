import type { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { expect, test } from 'vitest';
import { readTrends } from '../../../../../../tools/cli/console/sources/read-trends.ts';
import { stubClient } from '../../../../../support/aws/stub-client.ts';
import { at } from '../../../../../support/data/extraction-fixtures.ts';

const day = 86_400;
const hour = 3_600;
const now = at(2 * day);
const ago = (seconds: number) => at(2 * day - seconds);

const queue = (name: string) => `https://sqs.eu-west-1.amazonaws.com/111122223333/${name}`;
const sources = { stage: 'prod', reconcileQueueUrl: queue('reconcile'), deadLetterQueueUrl: queue('dead') };

type Point = { readonly Timestamp: Date; readonly Sum?: number; readonly Maximum?: number };

/** The figures where CloudWatch has these points. */
const trendsOf = async (pointsOf: Readonly<Record<string, readonly Point[]>>) => {
  const { client, sent } = stubClient<CloudWatchClient>(({ input }) => ({
    Datapoints: pointsOf[String(input.MetricName)] ?? [],
  }));
  const trends = await readTrends(client, sources, now);
  const hoursOf = (figure: string) => trends.find((trend) => trend.figure === figure)?.hours;
  return { hoursOf, sent };
};

test('the last hour, the one before and the same hour a day ago are summed over periods and metrics', async () => {
  const { hoursOf } = await trendsOf({
    SettledByWebhook: [
      { Timestamp: ago(60), Sum: 1 },
      { Timestamp: ago(hour), Sum: 2 },
      { Timestamp: ago(hour + 60), Sum: 10 },
      { Timestamp: ago(2 * hour + 60), Sum: 99 },
      { Timestamp: ago(day - 60), Sum: 99 },
      { Timestamp: ago(day + 60), Sum: 20 },
    ],
    SettledByReconcile: [{ Timestamp: ago(120), Sum: 4 }],
  });
  expect(hoursOf('Settled by a status of the provider')).toEqual([7, 10, 20]);
});

test('of ages and of messages that wait, the most counts, and an hour without a value has none', async () => {
  const { hoursOf, sent } = await trendsOf({
    ApproximateAgeOfOldestMessage: [
      { Timestamp: ago(60), Maximum: 5 },
      { Timestamp: ago(360), Maximum: 40 },
    ],
  });
  expect(hoursOf('Reconcile queue: the oldest message')).toEqual([40, undefined, undefined]);
  expect(sent.map(({ input }) => input)).toContainEqual({
    Namespace: 'AWS/SQS',
    MetricName: 'ApproximateAgeOfOldestMessage',
    Dimensions: [{ Name: 'QueueName', Value: 'reconcile' }],
    StartTime: ago(25 * hour),
    EndTime: now,
    Period: 300,
    Statistics: ['Maximum'],
  });
});
