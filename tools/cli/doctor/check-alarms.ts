import { type CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import { type Finding, failed, passed } from './finding.ts';

/** DescribeAlarms accepts this many names. */
const batchSize = 100;

/** Fails while any alarm of the stack is in ALARM. */
export const checkAlarms = async (client: CloudWatchClient, names: readonly string[]): Promise<Finding> => {
  const inAlarm: string[] = [];
  for (let from = 0; from < names.length; from += batchSize) {
    const { MetricAlarms = [], CompositeAlarms = [] } = await client.send(
      new DescribeAlarmsCommand({
        AlarmNames: names.slice(from, from + batchSize),
        AlarmTypes: ['MetricAlarm', 'CompositeAlarm'],
        StateValue: 'ALARM',
      }),
    );
    inAlarm.push(...[...MetricAlarms, ...CompositeAlarms].map(({ AlarmName = '' }) => AlarmName));
  }
  if (inAlarm.length === 0) return passed(`none of ${names.length} alarms is in ALARM`);
  return failed(`in ALARM: ${inAlarm.join(', ')}`, 'docs/operations.md has an entry for each alarm.');
};
