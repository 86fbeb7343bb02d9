import type { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { expect, test } from 'vitest';
import { checkSweep } from '../../../../../tools/cli/doctor/check-sweep.ts';
import { at } from '../../../../support/extraction-fixtures.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const check = async (Datapoints: readonly unknown[]) => {
  const { client, sent } = stubClient<CloudWatchClient>(() => ({ Datapoints }));
  return { finding: await checkSweep(client, 'prod', 5, at(10_000)), sent };
};

test('a sweep that finished within three intervals passes', async () => {
  const { finding, sent } = await check([
    { Timestamp: at(9_500), Sum: 1 },
    { Timestamp: at(9_880), Sum: 1 },
  ]);
  expect(finding).toEqual({ result: 'passed', message: 'last sweep 2 min ago' });
  expect(sent[0]?.input).toMatchObject({
    Namespace: 'Cosecha/prod',
    MetricName: 'SweepFinished',
    // As test/unit/lib/observability/observability.test.ts has it in the EMF.
    Dimensions: [{ Name: 'service', Value: 'cosecha' }],
    StartTime: at(9_100),
  });
});

test('no sweep that finished within three intervals fails', async () => {
  expect((await check([])).finding).toMatchObject({
    result: 'failed',
    message: 'no sweep finished within 15 min',
  });
});
