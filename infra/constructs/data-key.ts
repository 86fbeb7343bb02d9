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

  /** Permissions to read tables: DynamoDB uses the key with the reader's permissions. */
  readingTables(): PolicyStatement {
    return allow(['kms:Decrypt', 'kms:DescribeKey'], [this.key.keyArn], viaService('dynamodb'));
  }

  /** Permissions to read and write tables: as in DynamoDB's guide, without CreateGrant, which only deployments need. */
  writingTables(): PolicyStatement {
    return allow(
      [
        'kms:Decrypt',
        'kms:DescribeKey',
        'kms:Encrypt',
        'kms:GenerateDataKey',
        'kms:GenerateDataKeyWithoutPlaintext',
        'kms:ReEncryptFrom',
        'kms:ReEncryptTo',
      ],
      [this.key.keyArn],
      viaService('dynamodb'),
    );
  }

  /**
   * Permission to make a table under the key, as a restore does: DynamoDB keeps a grant for the table
   * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html).
   */
  creatingTables(): PolicyStatement {
    return allow(['kms:CreateGrant'], [this.key.keyArn], {
      ...viaService('dynamodb'),
      Bool: { 'kms:GrantIsForAWSResource': true },
    });
  }

  /** Permission to read objects. */
  readingObjects(): PolicyStatement {
    return allow(['kms:Decrypt'], [this.key.keyArn], viaService('s3'));
  }

  /** Permission to store objects, each with one PutObject. A multipart upload would need Decrypt as well. */
  storingObjects(): PolicyStatement {
    return allow(['kms:GenerateDataKey'], [this.key.keyArn], viaService('s3'));
  }

  /** Permission to read secrets. */
  readingSecrets(): PolicyStatement {
    return allow(['kms:Decrypt'], [this.key.keyArn], viaService('secretsmanager'));
  }

  /** Permission to read and to fill secrets (https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html). */
  fillingSecrets(): PolicyStatement {
    return allow(['kms:Decrypt', 'kms:GenerateDataKey'], [this.key.keyArn], viaService('secretsmanager'));
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
