import { CloudWatchClient, DescribeAlarmsCommand, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import { isWindow } from '../../cli/aws/read-alarms.ts';
import { ownMetric, sumMetric } from '../../cli/aws/read-metric.ts';
import { type AcceptContext, type Check, expectNone, passed } from './check.ts';
import { extractUntilDone, waitForMessage } from './request-and-await.ts';

type Notification = {
  readonly AlarmName?: string;
  readonly NewStateValue?: string;
  readonly NewStateReason?: string;
  /** Such as 2026-05-04T10:20:30.123+0000. */
  readonly StateChangeTime?: string;
};

/** What an alarm published, as SNS delivers it to a queue. */
const parseNotification = (body: string): Notification =>
  JSON.parse((JSON.parse(body) as { readonly Message?: string }).Message ?? '{}');

const notified = (context: AcceptContext, alarm: string, fits: (notification: Notification) => boolean) =>
  waitForMessage(context, context.fakeProvider.output('AlarmQueueUrl'), {
    what: `the alarm topic to report ${alarm}`,
    fits: (body) => {
      const notification = parseNotification(body);
      return notification.AlarmName === alarm && notification.NewStateValue === 'ALARM' && fits(notification);
    },
  });

/** Actions run only when the state changes: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_SetAlarmState.html */
const setState = async (
  cloudWatch: CloudWatchClient,
  AlarmName: string,
  StateValue: 'ALARM' | 'OK',
  StateReason = 'npm run accept resets it',
): Promise<void> => {
  await cloudWatch.send(new SetAlarmStateCommand({ AlarmName, StateValue, StateReason }));
};

export const alarmNotifies: Check = {
  id: 'alarm-notifies',
  title: 'Every alarm has a topic, and the topic is notified when an alarm changes its state',
  seconds: () => 90,
  run: async (context) => {
    const { client, deployment } = context;
    const cloudWatch = new CloudWatchClient(client);
    const names = await deployment.resources('AWS::CloudWatch::Alarm');
    const { MetricAlarms = [] } = await cloudWatch.send(
      new DescribeAlarmsCommand({ AlarmNames: names.filter((name) => !isWindow(name)) }),
    );
    const silent = MetricAlarms.filter(({ AlarmActions = [] }) => AlarmActions.length === 0);
    expectNone(
      silent.map(({ AlarmName }) => `The alarm ${AlarmName} has no topic.`),
      'Set alarmTopicArn.',
    );
    // No other check raises it.
    const AlarmName = `${deployment.stackName}-stuck`;
    // No message of an earlier run has it.
    const reason = `npm run accept sets it for a moment: ${context.randomId()}`;
    // An earlier run may have been stopped before it reset the alarm.
    await setState(cloudWatch, AlarmName, 'OK');
    await setState(cloudWatch, AlarmName, 'ALARM', reason);
    try {
      await notified(context, AlarmName, ({ NewStateReason }) => NewStateReason === reason);
    } finally {
      await setState(cloudWatch, AlarmName, 'OK');
    }
    const topic = MetricAlarms[0]?.AlarmActions?.[0] ?? '';
    return passed(`${MetricAlarms.length} alarms have a topic; ${topic} reported ${AlarmName}`);
  },
};

/**
 * A real one: a start without answer is counted in a log, CloudWatch makes a metric of it, and the alarm changes state.
 *
 * An alarm stays up for minutes after its last datapoint, such as one of an earlier run, and then nothing changes. So once the
 * datapoint of this extraction is there, the alarm is reset. CloudWatch evaluates it again and raises it, now for this one too.
 */
export const alarmRaised: Check = {
  id: 'alarm-raised',
  title: 'A real UNCONFIRMED extraction raises the alarm `unconfirmed`, and its topic is notified',
  // It takes 2 to 9 minutes until a log is a metric and the alarm is evaluated with it.
  seconds: () => 900,
  notOnEmulator: 'it makes no metrics of logs',
  run: async (context) => {
    const { client, deployment, now, until } = context;
    const cloudWatch = new CloudWatchClient(client);
    const alarm = `${deployment.stackName}-unconfirmed`;
    // Values are kept by whole minutes.
    const since = new Date(Math.floor(now().getTime() / 60_000) * 60_000);
    const scenario = { start: 'breaks', webhook: 'lost' } as const;
    const { extractionId } = await extractUntilDone(context, 'alarm-raised', scenario, 'UNCONFIRMED');
    const metric = ownMetric(deployment.stage, 'Unconfirmed');
    const hasValue = async () => (await sumMetric(cloudWatch, metric, since, now())) > 0;
    await until('a value of the metric Unconfirmed', hasValue, 10_000);
    await setState(cloudWatch, alarm, 'OK');
    await notified(
      context,
      alarm,
      ({ StateChangeTime = '' }) => new Date(StateChangeTime.replace(/\+0000$/, 'Z')) >= since,
    );
    return passed(`${alarm} was raised after ${extractionId}, and its topic reported it`);
  },
};
