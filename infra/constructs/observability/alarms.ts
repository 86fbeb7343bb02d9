import {
  Alarm,
  type AlarmBase,
  type CfnAlarm,
  ComparisonOperator,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { Config } from '../../settings/config.ts';
import { isLocal } from '../removal-policy.ts';
import { type AlarmsProps, alarmDescription, alarmName } from './alarm-name.ts';
import { type AlarmEntry, alarmTable } from './alarm-table.ts';
import { BankAlarms } from './bank-alarms.ts';
import { OutcomeAlarms } from './outcome-alarms.ts';

const whenMissing = ({ below, keepsState }: AlarmEntry): TreatMissingData => {
  if (below) return TreatMissingData.BREACHING;
  return keepsState ? TreatMissingData.IGNORE : TreatMissingData.NOT_BREACHING;
};

/** The alarms, named `Cosecha-<stage>-<id>`. */
export class Alarms extends Construct {
  readonly all: readonly AlarmBase[];

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { config, metrics } = props;
    const entries = alarmTable(config, metrics);
    const ofTable = entries.map((entry) => this.alarm(entry, config));
    const outcomes = isLocal(config) ? undefined : new OutcomeAlarms(this, 'Outcomes', props);
    const banks = isLocal(config) ? undefined : new BankAlarms(this, 'Banks', props);
    this.all = [...ofTable, ...(outcomes?.all ?? []), ...(banks?.all ?? [])];
    const paging = [...ofTable.filter((_, index) => entries[index]?.pages), ...(outcomes?.paging ?? [])];
    const { alarmTopicArn, pageTopicArn = alarmTopicArn } = config;
    this.notify('PageTopic', pageTopicArn, paging);
    const others = this.all.filter((alarm) => !paging.includes(alarm));
    this.notify('Topic', alarmTopicArn, others);
  }

  private notify(id: string, topicArn: string | undefined, alarms: readonly AlarmBase[]): void {
    if (topicArn === undefined) return;
    const topic = new SnsAction(Topic.fromTopicArn(this, id, topicArn));
    for (const alarm of alarms) {
      alarm.addAlarmAction(topic);
      alarm.addOkAction(topic);
    }
  }

  private alarm(entry: AlarmEntry, config: Config): Alarm {
    const { id, metric, threshold, below = false, periods = { breaching: 1, of: 1 } } = entry;
    const alarm = new Alarm(this, id, {
      alarmName: alarmName(config, id),
      alarmDescription: alarmDescription(config, entry.symptom, entry.runbookEntry ?? id),
      metric,
      threshold,
      comparisonOperator: below
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: periods.of,
      datapointsToAlarm: periods.breaching,
      treatMissingData: whenMissing(entry),
    });
    if (entry.wholeHours) {
      // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation-window.html
      const resource = alarm.node.defaultChild as CfnAlarm;
      resource.evaluationWindow = { wallClockWindow: { timezone: 'UTC' } };
    }
    return alarm;
  }
}
