import { Validations } from 'aws-cdk-lib';
import type { Alarm, CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { CfnKey } from 'aws-cdk-lib/aws-kms';
import { allow } from '../../constructs/allow.ts';
import type { SealKey } from '../../constructs/seal-key.ts';

interface EmulatorDifferences {
  readonly sealKey: SealKey;
  readonly alarms: readonly Alarm[];
  /** Who answers task tokens, and how. */
  readonly tokenAnswers: readonly { readonly role: IRole; readonly actions: readonly string[] }[];
}

/** What the template has to look like for the emulator, where that differs from AWS and AWS is right. */
export const adaptToEmulator = ({ sealKey, alarms, tokenAnswers }: EmulatorDifferences): void => {
  // The emulator authorizes SendTask* against "*": a task token names no machine that it could look up. AWS
  // takes the machine's ARN (https://github.com/aws/aws-cdk/pull/8486), and that statement stands beside this.
  for (const { role, actions } of tokenAnswers) {
    role.addToPrincipalPolicy(allow(actions, ['*']));
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'On the emulator only.',
    });
  }
  // The emulator checks the encryption context when it decrypts, but its policies do not know the condition
  // keys kms:EncryptionContext*: a statement that requires one would never apply.
  const key = sealKey.key.node.defaultChild as CfnKey;
  for (const index of Object.values(SealKeyStatement)) {
    key.addPropertyDeletionOverride(`KeyPolicy.Statement.${index}.Condition`);
  }
  // The emulator's CloudFormation knows no metric math. Nor has it anything to calculate with: it does not read
  // metrics out of logs (EMF). So these alarms are there under their names, on the first of their metrics.
  for (const alarm of alarms) watchFirstMetric(alarm.node.defaultChild as CfnAlarm);
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

/** Where the key policy has them: after the statement Administer, in the order in which the stack adds them. */
const SealKeyStatement = { Seal: 1, Unseal: 2, UnsealTargets: 3 } as const;
