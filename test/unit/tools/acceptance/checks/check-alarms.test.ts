import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { afterEach, expect, test, vi } from 'vitest';
import { alarmRaised } from '../../../../../tools/acceptance/checks/check-alarms.ts';
import type { AcceptContext } from '../../../../../tools/acceptance/checks/context.ts';
import type { Inbox } from '../../../../../tools/acceptance/checks/inbox.ts';

afterEach(() => vi.restoreAllMocks());

const beganAt = new Date('2026-05-04T10:20:30.000Z');
const alarm = 'Cosecha-accept-unconfirmed';

/** A message of SNS about the alarm. */
const message = (NewStateValue: string, StateChangeTime: string): string =>
  JSON.stringify({
    Type: 'Notification',
    Message: JSON.stringify({ AlarmName: alarm, NewStateValue, NewStateReason: 'r', StateChangeTime }),
  });

/**
 * Runs the check where the alarm is up since an earlier run. `metricAfter` is how often the metric is read before it has a value
 * of this run. Once the alarm is reset, CloudWatch raises it again. Returns what happened, in order.
 */
const run = async (metricAfter: number) => {
  const log: string[] = [];
  const queue = [
    message('ALARM', '2026-05-04T10:15:00.000+0000'),
    message('OK', '2026-05-04T10:30:00.000+0000'),
  ];
  let reads = 0;
  vi.spyOn(CloudWatchClient.prototype, 'send').mockImplementation((async (command: { input: object }) => {
    const { name } = command.constructor;
    log.push(name.replace(/Command$/, ''));
    if (name === 'SetAlarmStateCommand') queue.push(message('ALARM', '2026-05-04T10:31:00.000+0000'));
    if (name !== 'GetMetricStatisticsCommand') return {};
    reads += 1;
    return { Datapoints: reads > metricAfter ? [{ Timestamp: beganAt, Sum: 1 }] : [] };
  }) as never);
  const inbox: Inbox = {
    until: async (_, fits) => {
      const found = queue.find(fits);
      if (found === undefined) throw new Error('no message fits');
      return found;
    },
  };
  const extraction = { extractionId: 'e-1', status: 'UNCONFIRMED', settledAt: beganAt.toISOString() };
  const context = {
    client: { region: 'eu-west-1' },
    deployment: { stage: 'accept', stackName: 'Cosecha-accept' },
    inbox: () => inbox,
    api: {
      request: async () => ({ extraction, replayed: false }),
      call: async () => ({ status: 200, body: JSON.stringify(extraction) }),
    },
    now: () => beganAt,
    randomId: () => 'id',
    sleep: async () => {},
    waitFor: () => {},
  } as unknown as AcceptContext;
  return { result: await alarmRaised.run(context), log };
};

test('an alarm that an earlier run left up is reset once the metric has a value of this run', async () => {
  const { result, log } = await run(2);
  expect(result.kind).toBe('passed');
  expect(log).toEqual([...Array(3).fill('GetMetricStatistics'), 'SetAlarmState']);
});
