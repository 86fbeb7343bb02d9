import { Duration, Stack, Validations } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import type { IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type CfnBucket,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { Config } from '../config.ts';
import { allow } from './allow.ts';
import type { DataKey } from './data-key.ts';
import { isLocal, removalPolicy, tableRemovalPolicy } from './removal.ts';

const DUE_INDEX = 'due';

interface StorageProps {
  readonly config: Config;
  readonly dataKey: DataKey;
}

/**
 * The two tables and the bucket. `Table`, not `TableV2`: the latter makes a global table, and the promise of
 * one start rests on conditional writes, which hold within one region only. Nobody should add a replica.
 */
export class Storage extends Construct {
  readonly extractions: Table;
  readonly tasks: Table;
  readonly results: Bucket;

  constructor(scope: Construct, id: string, { config, dataKey }: StorageProps) {
    super(scope, id);
    const table = {
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: dataKey.key,
      timeToLiveAttribute: 'expiresAt',
      removalPolicy: tableRemovalPolicy(config),
      deletionProtection: !isLocal(config),
    };

    this.extractions = new Table(this, 'Extractions', {
      ...table,
      partitionKey: { name: 'extractionId', type: AttributeType.STRING },
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    });
    this.extractions.addGlobalSecondaryIndex({
      indexName: DUE_INDEX,
      partitionKey: { name: 'dueShard', type: AttributeType.NUMBER },
      sortKey: { name: 'dueAt', type: AttributeType.STRING },
      projectionType: ProjectionType.KEYS_ONLY,
    });

    this.tasks = new Table(this, 'Tasks', {
      ...table,
      partitionKey: { name: 'taskId', type: AttributeType.STRING },
    });
    Validations.of(this.tasks).acknowledge({
      id: 'AwsSolutions-DDB3',
      reason:
        'A rendezvous of minutes: tokens restored from a backup are dead, and the poll settles without it.',
    });

    this.results = new Bucket(this, 'Results', {
      encryption: BucketEncryption.KMS,
      encryptionKey: dataKey.key,
      bucketKeyEnabled: true,
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      lifecycleRules: [
        {
          expiration: Duration.days(config.resultsRetentionDays),
          abortIncompleteMultipartUploadAfter: Duration.days(1),
        },
      ],
      removalPolicy: removalPolicy(config),
    });
    Validations.of(this.results).acknowledge({
      id: 'AwsSolutions-S1',
      reason:
        'Every read is announced by get-extraction, in its own log; CloudTrail data events can be added per account.',
    });
  }

  /** These actions on the items of Extractions. */
  onExtractions(...actions: readonly ItemAction[]): PolicyStatement {
    return allow(
      actions.map((action) => `dynamodb:${action}`),
      [this.extractions.tableArn],
    );
  }

  /** Finding what is open: the sweep. */
  findingOpen(): PolicyStatement {
    return allow(['dynamodb:Query'], [`${this.extractions.tableArn}/index/${DUE_INDEX}`]);
  }

  /** These actions on the items of Tasks. */
  onTasks(...actions: readonly ItemAction[]): PolicyStatement {
    return allow(
      actions.map((action) => `dynamodb:${action}`),
      [this.tasks.tableArn],
    );
  }

  /** This action on the objects of Results. */
  onResults(action: 'GetObject' | 'PutObject'): PolicyStatement {
    return allow([`s3:${action}`], [this.results.arnForObjects('*')]);
  }

  /** The reason why `onResults` names every object. */
  acknowledgeEveryResult(role: IRole): void {
    const bucket = Stack.of(this).getLogicalId(this.results.node.defaultChild as CfnBucket);
    Validations.of(role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${bucket}.Arn>/*]`,
      reason:
        'Objects are named by extraction, so this bucket, which holds nothing else, is as narrow as it gets.',
    });
  }
}

/**
 * GetItem is for those who send one. A write that is refused, or asks for the new row, hands a row back under its own
 * action: PutItem and UpdateItem have no dependent actions
 * (https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html).
 */
type ItemAction = 'GetItem' | 'PutItem' | 'UpdateItem';
