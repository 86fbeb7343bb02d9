import { CloudWatchClient, DescribeAlarmsCommand, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import { type Check, type CheckResult, passed, skipped } from './check.ts';
import type { AcceptContext } from './context.ts';
import { extract, isDone, readUntil, requestOf } from './extractions.ts';
import { Unmet } from './unmet.ts';

const noInbox = (): CheckResult =>
  skipped('not configured: the stack of the fake provider has no output AlarmQueueUrl');

/** Whether a message of the topic reports that this alarm is in ALARM. */
const reports =
  (alarm: string) =>
  (body: string): boolean =>
    body.includes(alarm) && /NewStateValue\W+ALARM\b/.test(body);

const notified = async (context: AcceptContext, alarm: string): Promise<boolean> => {
  const inbox = context.inbox('AlarmQueueUrl');
  if (inbox === undefined) return false;
  context.waitFor(`the alarm topic to report ${alarm}`);
  await inbox.until(context, reports(alarm));
  return true;
};

/** Each alarm notifies a topic, and a state that is set by hand reaches it. */
export const alarmNotifies: Check = {
  id: 'alarm-notifies',
  title: 'Every alarm has a topic, and the topic is notified when an alarm changes its state',
  turn: 'together',
  seconds: () => 90,
  run: async (context) => {
    const { client, deployment, stack } = context;
    if (context.inbox('AlarmQueueUrl') === undefined) return noInbox();
    const cloudWatch = new CloudWatchClient(client);
    const names = await stack.resources('AWS::CloudWatch::Alarm');
    const { MetricAlarms = [] } = await cloudWatch.send(
      new DescribeAlarmsCommand({ AlarmNames: [...names] }),
    );
    const silent = MetricAlarms.filter(({ AlarmActions = [] }) => AlarmActions.length === 0);
    if (silent.length > 0) {
      throw new Unmet(
        `${silent.length} alarms notify nobody: ${silent.map(({ AlarmName }) => AlarmName).join(', ')}. Set alarmTopicArn.`,
      );
    }
    // No other check raises it.
    const AlarmName = `${deployment.stackName}-stuck`;
    const set = (StateValue: 'ALARM' | 'OK') =>
      cloudWatch.send(
        new SetAlarmStateCommand({
          AlarmName,
          StateValue,
          StateReason: 'npm run accept sets it for a moment',
        }),
      );
    await set('ALARM');
    try {
      await notified(context, AlarmName);
    } finally {
      await set('OK');
    }
    const topic = MetricAlarms[0]?.AlarmActions?.[0] ?? '';
    return passed(`${MetricAlarms.length} alarms have a topic; ${topic} reported ${AlarmName}`);
  },
};

/** A real one: a start without answer is counted in a log, CloudWatch makes a metric of it, and the alarm changes state. */
export const alarmRaised: Check = {
  id: 'alarm-raised',
  title: 'A real UNCONFIRMED extraction raises the alarm `unconfirmed`, and its topic is notified',
  turn: 'together',
  // Logs become metrics within a minute or two, and the alarm is evaluated once a minute.
  seconds: () => 360,
  notOnEmulator: 'it makes no metrics of logs',
  run: async (context) => {
    if (context.inbox('AlarmQueueUrl') === undefined) return noInbox();
    const extractionId = await extract(
      context,
      requestOf('alarm-raised', { start: 'breaks', webhook: 'lost' }),
    );
    await readUntil(context, extractionId, 'UNCONFIRMED', isDone);
    const alarm = `${context.deployment.stackName}-unconfirmed`;
    await notified(context, alarm);
    return passed(`${alarm} was raised after ${extractionId}, and its topic reported it`);
  },
};
