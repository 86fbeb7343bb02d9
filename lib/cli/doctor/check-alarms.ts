import { type CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import { type Finding, failed, passed } from './finding.ts';

/** DescribeAlarms takes this many names. */
const batchSize = 100;

/** Whether any alarm of the stack is ringing. */
export const checkAlarms = async (client: CloudWatchClient, names: readonly string[]): Promise<Finding> => {
  const ringing: string[] = [];
  for (let from = 0; from < names.length; from += batchSize) {
    const { MetricAlarms = [], CompositeAlarms = [] } = await client.send(
      new DescribeAlarmsCommand({
        AlarmNames: names.slice(from, from + batchSize),
        AlarmTypes: ['MetricAlarm', 'CompositeAlarm'],
        StateValue: 'ALARM',
      }),
    );
    ringing.push(...[...MetricAlarms, ...CompositeAlarms].map(({ AlarmName = '' }) => AlarmName));
  }
  if (ringing.length === 0) return passed(`none of ${names.length} alarms is ringing`);
  return failed(
    `ringing: ${ringing.join(', ')}`,
    'docs/operations.md says of each what it means and what to do.',
  );
};
