import { expect, test } from 'vitest';
import {
  alarmDifferences,
  functionDifferences,
} from '../../../../../tools/acceptance/checks/check-deployed.ts';

const startTask = { name: 'start-task', memoryMB: 256, timeoutSeconds: 90 };

test('a function with other memory or another timeout than the template is named', () => {
  expect(functionDifferences([startTask], [startTask])).toEqual([]);
  expect(functionDifferences([startTask], [{ ...startTask, memoryMB: 128, timeoutSeconds: 3 }])).toEqual([
    'The function start-task has 128 MB instead of 256 MB and a timeout of 3 s instead of 90 s.',
  ]);
  expect(functionDifferences([startTask], [])).toEqual(['The function start-task is missing.']);
});

const metric = (MetricName: string) => ({
  MetricStat: { Metric: { Namespace: 'Cosecha/accept', MetricName } },
});
const orphans = {
  AlarmName: 'orphan-deliveries',
  Metrics: [metric('UnlinkedDelivery'), metric('EarlyDelivery')],
};

test('an alarm that watches another metric than in the template, or none, is named', () => {
  expect(
    alarmDifferences([orphans], [{ ...orphans, Metrics: orphans.Metrics.toReversed() } as never]),
  ).toEqual([]);
  const single = { AlarmName: 'unconfirmed', Namespace: 'Cosecha/accept', MetricName: 'Unconfirmed' };
  expect(alarmDifferences([single], [{ ...single, MetricName: 'Unconfirmd' }])).toEqual([
    'The alarm unconfirmed watches Cosecha/accept Unconfirmd instead of Cosecha/accept Unconfirmed.',
  ]);
  expect(alarmDifferences([single], [{ AlarmName: 'unconfirmed' }])).toEqual([
    'The alarm unconfirmed watches no metric instead of Cosecha/accept Unconfirmed.',
  ]);
  expect(alarmDifferences([single], [])).toEqual(['The alarm unconfirmed is missing.']);
});
