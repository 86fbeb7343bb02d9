import { expect, test, vi } from 'vitest';
import { functionNames } from '../../../../infra/function-names.ts';
import { capturedLog } from '../../../support/captured-log.ts';
import { resourcesOf, synthesize } from '../../infra/synth.ts';

const log = capturedLog();

const environments = Object.values(resourcesOf(synthesize().template, 'AWS::Lambda::Function')).map(
  ({ Properties }) => (Properties.Environment as { readonly Variables: Record<string, string> }).Variables,
);

test('what is counted is told as the alarms look for it', async () => {
  for (const [name, value] of Object.entries(environments[0] ?? {})) vi.stubEnv(name, value);
  const { observability, count } = await import('../../../../lib/observability/observability.ts');
  count('SweepFinished');
  count('SweepFinished', 0);
  count('OldestOverdueSeconds', 12.5);
  for (const { after } of observability()) await after?.({} as never);
  const emf = log.lines().match(/^\{"_aws":.+$/m)?.[0] ?? '{}';
  expect(JSON.parse(emf)).toMatchObject({
    _aws: {
      CloudWatchMetrics: [
        {
          Namespace: 'Cosecha/prod',
          Dimensions: [['service']],
          Metrics: [
            { Name: 'SweepFinished', Unit: 'Count' },
            { Name: 'OldestOverdueSeconds', Unit: 'Seconds' },
          ],
        },
      ],
    },
    service: 'cosecha',
    SweepFinished: [1, 0],
    OldestOverdueSeconds: 12.5,
  });
});

test('what is published now is not told again at the end', async () => {
  const { observability, count, publishNow } = await import('../../../../lib/observability/observability.ts');
  count('SweepStarted');
  publishNow();
  expect(log.lines()).toContain('"SweepStarted":1');
  for (const { after } of observability()) await after?.({} as never);
  expect(log.lines().match(/"SweepStarted":1/g)).toHaveLength(1);
});

test('what calls for a look names in the log what it was about; what is daily does not', async () => {
  const { countAbout } = await import('../../../../lib/observability/observability.ts');
  const observed = countAbout({ extractionId: 'e-1' });
  observed('Collected');
  expect(log.lines()).toBe('');
  observed('StatusDisagreement');
  expect(JSON.parse(log.lines().trim())).toMatchObject({
    level: 'WARN',
    metric: 'StatusDisagreement',
    extractionId: 'e-1',
  });
});

test('every function tells it in the same namespace', () => {
  expect(environments).toHaveLength(functionNames.length);
  expect(new Set(environments.map((variables) => variables.POWERTOOLS_METRICS_NAMESPACE))).toEqual(
    new Set(['Cosecha/prod']),
  );
});
