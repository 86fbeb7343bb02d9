import { Validations } from 'aws-cdk-lib';
import type { Alarm, CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { CfnKey } from 'aws-cdk-lib/aws-kms';
import { allow } from './constructs/allow.ts';
import type { ReconcileQueue } from './constructs/reconcile-queue.ts';
import type { SealKey } from './constructs/seal-key.ts';
import type { CosechaFunctions } from './functions.ts';

/**
 * Changes the template where the emulator differs from AWS:
 *
 * - The emulator authorizes SendTask* against `*`, as a callback token does not name its machine. AWS authorizes against
 *   the machine's ARN (https://github.com/aws/aws-cdk/pull/8486); that statement stays beside this one.
 * - The emulator authorizes SendMessageBatch as an action of its own. AWS authorizes it as sqs:SendMessage
 *   (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html).
 * - The emulator checks the encryption context when it decrypts, but its policies do not know the condition keys
 *   kms:EncryptionContext*. A statement that requires one would never apply.
 * - The emulator's CloudFormation knows no metric math, and it extracts no metrics from logs (EMF). So each alarm exists
 *   under its name and watches the first of its metrics.
 */
export const adaptToEmulator = (
  sealKey: SealKey,
  queue: ReconcileQueue,
  { startTask, receiveWebhook, sweepExtractions }: CosechaFunctions,
  alarms: readonly Alarm[],
): void => {
  sweepExtractions.role.addToPrincipalPolicy(allow(['sqs:SendMessageBatch'], [queue.queue.queueArn]));
  allowOnAnyMachine(startTask.role, ['states:SendTaskFailure', 'states:SendTaskSuccess']);
  allowOnAnyMachine(receiveWebhook.role, ['states:SendTaskSuccess']);
  const key = sealKey.key.node.defaultChild as CfnKey;
  for (const index of Object.values(sealKeyStatements)) {
    key.addPropertyDeletionOverride(`KeyPolicy.Statement.${index}.Condition`);
  }
  for (const alarm of alarms) watchFirstMetric(alarm.node.defaultChild as CfnAlarm);
};

const allowOnAnyMachine = (role: IRole, actions: readonly string[]): void => {
  role.addToPrincipalPolicy(allow(actions, ['*']));
  Validations.of(role).acknowledge({
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason: 'On the emulator only.',
  });
};

/** The indexes of the key policy's statements: they follow Administer, in the order in which the stack adds them. */
const sealKeyStatements = { Seal: 1, Unseal: 2, UnsealTargets: 3 } as const;

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
