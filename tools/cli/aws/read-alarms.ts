import { type CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import { defined } from '../../../lib/defined.ts';
import type { Deployment } from './deployment.ts';

export type AlarmLine = {
  readonly name: string;
  /** What is wrong, and the address of its runbook entry. */
  readonly description?: string;
  readonly state: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';
  readonly since?: string;
};

/** Whether it is a window of a composite alarm (infra/constructs/observability/outcome-alarms.ts). It has no topic, because alone it is no alarm. */
export const isWindow = (alarmName: string): boolean => /-over-\d+min$/.test(alarmName);

/** The alarms of a stack that notify somebody. */
export const alarmNamesOf = async ({ resources }: Deployment): Promise<readonly string[]> => {
  const types = ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::CompositeAlarm'];
  return (await Promise.all(types.map(resources))).flat().filter((name) => !isWindow(name));
};

/** DescribeAlarms accepts this many names. */
const batchSize = 100;

export const readAlarms = async (client: CloudWatchClient, names: readonly string[]) => {
  const lines: AlarmLine[] = [];
  for (let from = 0; from < names.length; from += batchSize) {
    const { MetricAlarms = [], CompositeAlarms = [] } = await client.send(
      new DescribeAlarmsCommand({
        AlarmNames: names.slice(from, from + batchSize),
        AlarmTypes: ['MetricAlarm', 'CompositeAlarm'],
      }),
    );
    lines.push(
      ...[...MetricAlarms, ...CompositeAlarms].map(
        ({ AlarmName = '', AlarmDescription, StateValue = 'INSUFFICIENT_DATA', StateUpdatedTimestamp }) =>
          defined({
            name: AlarmName,
            description: AlarmDescription,
            state: StateValue,
            since: StateUpdatedTimestamp?.toISOString(),
          }),
      ),
    );
  }
  return lines;
};
