import { Aws, Stack } from 'aws-cdk-lib';
import type { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { IRole, ManagedPolicy } from 'aws-cdk-lib/aws-iam';
import { acknowledgeWildcard, allow } from './constructs/allow.ts';
import type { Connected } from './lambda/connect-functions.ts';
import type { CosechaFunctions } from './lambda/create-functions.ts';
import type { Resources } from './resources.ts';

/**
 * Changes the template where the emulator differs from AWS:
 *
 * - The emulator authorizes SendTask* against `*`, as a callback token does not name its machine. AWS authorizes against
 *   the machine's ARN (https://github.com/aws/aws-cdk/pull/8486); that statement stays beside this one.
 * - The emulator authorizes SendMessageBatch as an action of its own. AWS authorizes it as sqs:SendMessage
 *   (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html).
 * - The emulator authorizes reading a stream and a simulation of a role's policies against `*`, AWS against the stream's and the
 *   role's ARN. It names the default bus in a rule's
 *   ARN, AWS does not (https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoneventbridge.html).
 *   CloudFormation names a log group by stack and resource; the emulator puts a path before that.
 * - The emulator's CloudFormation knows no metric math, and it extracts no metrics from logs (EMF). So each alarm exists
 *   under its name and watches the first of its metrics. It knows no composite alarms, which `Alarms` leaves out there.
 */
export const adaptToEmulator = (
  { queue }: Resources,
  functions: CosechaFunctions,
  { alarms, policies }: Connected,
): void => {
  const { startTask, dispatchStarts, receiveWebhook, reconcileExtraction, eraseExtractions } = functions;
  functions.sweepExtractions.role.addToPrincipalPolicy(
    allow(['sqs:SendMessageBatch'], [queue.queue.queueArn]),
  );
  allowOnAnyMachine(startTask.role, ['states:SendTaskFailure', 'states:SendTaskSuccess']);
  for (const { role } of [dispatchStarts, receiveWebhook, reconcileExtraction, eraseExtractions])
    allowOnAnyMachine(role, ['states:SendTaskSuccess']);
  allowViewer(policies.viewer);
  for (const alarm of alarms) watchFirstMetric(alarm.node.defaultChild as CfnAlarm);
};

const allowOnAnyMachine = (role: IRole, actions: readonly string[]): void => {
  role.addToPrincipalPolicy(allow(actions, ['*']));
  acknowledgeWildcard(role, '*', 'On the emulator only.');
};

const allowViewer = (viewer: ManagedPolicy): void => {
  const { stackName } = Stack.of(viewer);
  const elsewhere = [
    ['events', 'DescribeRule', `rule/default/${stackName}-*`],
    ['logs', 'FilterLogEvents', `log-group:/aws/cloudformation/${stackName}/*`],
  ] as const;
  for (const [service, action, resource] of elsewhere) {
    const arn = `arn:${Aws.PARTITION}:${service}:${Aws.REGION}:${Aws.ACCOUNT_ID}:${resource}`;
    viewer.addStatements(allow([`${service}:${action}`], [arn]));
    acknowledgeWildcard(viewer, arn, 'On the emulator only.');
  }
  const reading = ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'];
  viewer.addStatements(allow([...reading, 'iam:SimulatePrincipalPolicy'], ['*']));
};

const watchFirstMetric = (alarm: CfnAlarm): void => {
  const queries = (alarm.metrics ?? []) as readonly CfnAlarm.MetricDataQueryProperty[];
  const stat = queries.flatMap(({ metricStat }) => metricStat ?? [])[0] as
    | CfnAlarm.MetricStatProperty
    | undefined;
  if (stat === undefined) return;
  const { namespace, metricName, dimensions } = stat.metric as CfnAlarm.MetricProperty;
  alarm.metrics = undefined;
  Object.assign(alarm, { namespace, metricName, dimensions, period: stat.period, statistic: stat.stat });
};
