import { ArnFormat, Aws, Lazy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Config } from '../settings/config.ts';
import { allow, viaService } from './allow.ts';
import { removalPolicy } from './removal-policy.ts';

type DataKeyProps = {
  readonly config: Config;
  /** Of whose data: its alias is `<name>/data`, and an account has an alias once in a region. */
  readonly name: string;
  /** Takes the place of a new key. */
  readonly existing?: IKey | undefined;
};

/** Through which service the key is used, and how. */
const uses = {
  /** DynamoDB uses the key with the permissions of who reads a table or its stream. */
  readTables: ['dynamodb', ['Decrypt', 'DescribeKey']],
  /** As in DynamoDB's guide, without CreateGrant, which only deployments need. */
  writeTables: [
    'dynamodb',
    [
      ...['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey', 'GenerateDataKeyWithoutPlaintext'],
      ...['ReEncryptFrom', 'ReEncryptTo'],
    ],
  ],
  readObjects: ['s3', ['Decrypt']],
  /** Each with one PutObject. A multipart upload would need Decrypt as well. */
  storeObjects: ['s3', ['GenerateDataKey']],
  readSecrets: ['secretsmanager', ['Decrypt']],
  /** To read and to fill (https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html). */
  fillSecrets: ['secretsmanager', ['Decrypt', 'GenerateDataKey']],
} as const;

/**
 * Encrypts tables, results, logs and secrets at rest. IAM policies decide who may use it, and only through the service that holds
 * the data.
 */
export class DataKey extends Construct {
  readonly key: IKey;
  /** The ARNs of log groups, as patterns. */
  private readonly logGroups = new Set<string>();

  constructor(scope: Construct, id: string, { config, name, existing }: DataKeyProps) {
    super(scope, id);
    this.key =
      existing ??
      new Key(this, 'Key', {
        alias: `${name}/data`,
        description: `${name}: encrypts tables, results, logs and secrets`,
        enableKeyRotation: true,
        removalPolicy: removalPolicy(config),
      });
    this.key.addToResourcePolicy(this.useByLogs());
  }

  /** Lets CloudWatch Logs use the key for log groups of these names, a pattern. */
  encryptLogGroups(resourceName: string): void {
    const arn = { service: 'logs', resource: 'log-group', resourceName };
    this.logGroups.add(Stack.of(this).formatArn({ ...arn, arnFormat: ArnFormat.COLON_RESOURCE_NAME }));
  }

  /** A permission to use the key, through the service that holds the data. */
  allow(use: keyof typeof uses): PolicyStatement {
    const [service, actions] = uses[use];
    return allow(
      actions.map((action) => `kms:${action}`),
      [this.key.keyArn],
      viaService(service),
    );
  }

  /** CloudWatch Logs uses the key as itself, and only for log groups of this deployment. */
  private useByLogs(): PolicyStatement {
    return new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${Aws.REGION}.amazonaws.com`)],
      actions: ['kms:Decrypt*', 'kms:DescribeKey', 'kms:Encrypt*', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
      resources: ['*'],
      conditions: {
        ArnLike: { 'kms:EncryptionContext:aws:logs:arn': Lazy.list({ produce: () => [...this.logGroups] }) },
      },
    });
  }
}
