import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { afterEach, expect, test, vi } from 'vitest';
import { at, iso } from '#support/data/extraction-fixtures.ts';
import type { Deployment } from '#tools/cli/aws/deployment.ts';
import { parseRateChange, readLineHistory } from '#tools/cli/aws/read-line-history.ts';
import { percentile, readMetrics } from '#tools/cli/aws/read-metric.ts';

afterEach(() => vi.restoreAllMocks());

/** A line of which CloudWatch makes metrics. An emulator keeps it as it is. */
const metricLine = (
  seconds: number,
  values: Readonly<Record<string, number | readonly number[]>>,
): string => {
  const Metrics = Object.keys(values).map((Name) => ({ Name, Unit: 'Count' }));
  const groups = [{ Namespace: 'Cosecha/local', Dimensions: [['service']], Metrics }];
  return JSON.stringify({ _aws: { Timestamp: at(seconds).getTime(), CloudWatchMetrics: groups }, ...values });
};

const change = { judged: 'cut', perSecond: 1.7, share: 0.09, accepted: 91, refused: 9, failed: 0 };
const changed = { level: 'INFO', message: 'The rate of starts changed.', timestamp: iso(70), ...change };

/** An emulator whose dispatcher has logged these lines. */
const emulatorWith = (lines: readonly string[]): Deployment => {
  const events = lines.map((message, index) => ({ message, timestamp: index }));
  vi.spyOn(CloudWatchLogsClient.prototype, 'send').mockImplementation(async () => ({ events }));
  const resources = async () => ['/aws/StartDispatcherLog1'];
  return {
    client: { region: 'us-east-1' },
    stage: 'local',
    isEmulated: true,
    resources,
  } as unknown as Deployment;
};

const minutes = { since: at(10), until: at(130), periodSeconds: 60 };

test('the line of an emulator is read from the lines that CloudWatch makes metrics of, by whole periods', async () => {
  const deployment = emulatorWith([
    'START RequestId: 1',
    metricLine(-1, { StartsInLine: 9 }),
    metricLine(5, { StartsInLine: 20, SecondsToStart: [1, 2], ProviderBusy: 1 }),
    metricLine(50, { StartsInLine: 30, SecondsToStart: 4, ProviderBusy: 2 }),
    metricLine(125, { StartRate: 1.7 }),
    JSON.stringify(changed),
  ]);
  const { periods, changes } = await readLineHistory(deployment, minutes);
  expect(periods).toEqual([
    { at: at(0).getTime(), waiting: 30, started: 3, refused: 3, perSecond: undefined },
    {
      at: at(60).getTime(),
      waiting: undefined,
      started: undefined,
      refused: undefined,
      perSecond: undefined,
    },
    { at: at(120).getTime(), waiting: undefined, started: undefined, refused: undefined, perSecond: 1.7 },
  ]);
  expect(changes).toEqual([
    { at: iso(70), judged: 'cut', perSecond: 1.7, share: 0.09, refused: 9, failed: 0 },
  ]);
});

test('a percentile of an emulator is the smallest value that at least this share does not exceed', async () => {
  const deployment = emulatorWith([metricLine(20, { SecondsToStart: [4, 1, 3, 2] })]);
  const wanted = (['p50', 'p95'] as const).map((statistic) => ({
    name: 'SecondsToStart' as const,
    statistic,
  }));
  const read = await readMetrics(deployment, wanted, minutes);
  expect(read).toEqual([[{ at: at(0).getTime(), value: 2 }], [{ at: at(0).getTime(), value: 4 }]]);
  expect(percentile([], 0.5)).toBe(0);
});

test('a change without a limit, or with less than is logged today, is read', () => {
  expect(parseRateChange({ ...changed, judged: 'undone', perSecond: 'any', share: undefined })).toEqual({
    at: iso(70),
    judged: 'undone',
    refused: 9,
    failed: 0,
  });
  expect(parseRateChange({ ...changed, message: 'Another.' })).toBeUndefined();
});
