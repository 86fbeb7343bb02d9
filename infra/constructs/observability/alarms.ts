import type { AlarmBase } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { isLocal } from '../removal-policy.ts';
import { type AlarmsProps, createAlarm, type NotifyingAlarm } from './alarm.ts';
import { alarmTable } from './alarm-table.ts';
import { bankAlarms } from './bank-alarms.ts';
import { outcomeAlarms } from './outcome-alarms.ts';

/** The alarms, named `Cosecha-<stage>-<id>`. */
export class Alarms extends Construct {
  readonly all: readonly AlarmBase[];

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { config, metrics } = props;
    const alarms: readonly NotifyingAlarm[] = [
      ...alarmTable(config, metrics).map((entry) => ({
        alarm: createAlarm(this, config, entry),
        pages: entry.pages,
      })),
      // An emulator has no composite alarms, and reads no metrics from logs.
      ...(isLocal(config) ? [] : [...outcomeAlarms(this, props), ...bankAlarms(this, props)]),
    ];
    this.all = alarms.map(({ alarm }) => alarm);
    const { alarmTopicArn, pageTopicArn = alarmTopicArn } = config;
    this.notify(
      'PageTopic',
      pageTopicArn,
      alarms.filter(({ pages }) => pages),
    );
    this.notify(
      'Topic',
      alarmTopicArn,
      alarms.filter(({ pages }) => !pages),
    );
  }

  private notify(id: string, topicArn: string | undefined, alarms: readonly NotifyingAlarm[]): void {
    if (topicArn === undefined) return;
    const topic = new SnsAction(Topic.fromTopicArn(this, id, topicArn));
    for (const { alarm } of alarms) {
      alarm.addAlarmAction(topic);
      alarm.addOkAction(topic);
    }
  }
}
