import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Rules of NIST 800-53 R5 and of HIPAA Security, in cdk-nag, that do not fit the whole deployment, each with the reason. */
const reasons: Readonly<Record<string, string>> = {
  CloudWatchAlarmAction:
    'With alarmTopicArn or pageTopicArn every alarm notifies a topic. A window of a composite alarm is no alarm by itself.',
  DynamoDBInBackupPlan:
    'Extractions has point-in-time recovery. A copy outside of the account is a matter of its organization (docs/operations.md, "A copy in another account").',
  DynamoDBPITREnabled: 'Only Extractions needs it. The reasons of the others are those of AwsSolutions-DDB3.',
  IAMNoInlinePolicy: 'Each policy belongs to one role, with which it is created and deleted.',
  LambdaConcurrency:
    'Lambda lets an account reserve only what is above 100, which new accounts do not have. Settings reserve it (docs/performance.md, "Ceilings").',
  LambdaDLQ:
    'Nothing invokes a function asynchronously but the rule of the sweep, which repeats. What a queue sends has a dead-letter queue.',
  LambdaInsideVPC:
    'The provider and AWS are reached over TLS. The construct takes a network for a provider that admits known addresses only.',
  S3BucketLoggingEnabled: 'get-extraction logs every read. An account can add CloudTrail data events.',
  S3BucketReplicationEnabled:
    'Results are kept for days, and the caller has them. A copy would have to be erased, too.',
  S3BucketVersioningEnabled:
    'An object is written once, under a name of its own. An erased one must be gone.',
  SecretsManagerRotationEnabled:
    'The provider issues two of the secrets. A rotation of the third would make repeated requests look like new ones.',
};

/** Gives the rules of both frameworks these reasons. Other frameworks and rules stay as they are. */
export const acknowledgeNagRules = (scope: IConstruct): void => {
  const rules = Object.entries(reasons).flatMap(([rule, reason]) =>
    ['NIST.800.53.R5', 'HIPAA.Security'].map((pack) => ({ id: `${pack}-${rule}`, reason })),
  );
  Validations.of(scope).acknowledge(...rules);
};
