import { Duration, Validations } from 'aws-cdk-lib';
import {
  type Attribute,
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
  type TableProps,
} from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { Config } from '../settings/config.ts';
import type { DataKey } from './data-key.ts';
import { isDisposable, removalPolicy, tableRemovalPolicy } from './removal-policy.ts';

const text = (name: string): Attribute => ({ name, type: AttributeType.STRING });

const withBackup = { pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true } };

type StorageProps = {
  readonly config: Config;
  readonly dataKey: DataKey;
};

const resultsBucket = (scope: Construct, { config, dataKey }: StorageProps): Bucket => {
  const results = new Bucket(scope, 'Results', {
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
  Validations.of(results).acknowledge({
    id: 'AwsSolutions-S1',
    reason: 'get-extraction logs every read of an extraction. An account can add CloudTrail data events.',
  });
  return results;
};

const addRecordIndexes = (extractions: Table): void => {
  extractions.addGlobalSecondaryIndex({
    indexName: 'due',
    partitionKey: { name: 'dueShard', type: AttributeType.NUMBER },
    sortKey: text('dueAt'),
    projectionType: ProjectionType.KEYS_ONLY,
  });
  // Of names that callers give. Sparse: a record without the name has no entry. None of these attributes ever changes, so that an entry
  // costs one write, with the record: an update writes to an index only if it changes a key or a projected attribute
  // (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes). A query names the
  // first key, or the first two: the entries of all callers, or of one alone
  // (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.DesignPattern.MultiAttributeKeys.html).
  for (const name of ['reference', 'batch']) {
    extractions.addGlobalSecondaryIndex({
      indexName: name,
      partitionKey: text(name),
      sortKeys: [text('requestedBy'), text('requestedAt')],
      projectionType: ProjectionType.KEYS_ONLY,
    });
  }
};

/**
 * Sparse: only what has a callback token, and can be released, has a `line`. All are in one partition, which takes 1,000 writes a
 * second: two for each start in line, of at most 200 a second.
 */
const addLineIndex = (startLine: Table): void => {
  startLine.addGlobalSecondaryIndex({
    indexName: 'line',
    partitionKey: text('line'),
    sortKey: text('slot'),
    projectionType: ProjectionType.INCLUDE,
    nonKeyAttributes: ['requestId', 'callbackToken'],
  });
};

/**
 * The seven tables and the bucket. `Table` and not `TableV2`, which makes global tables: at most one start depends on
 * conditional writes, which hold within one region only. So never add a replica.
 */
export class Storage extends Construct {
  readonly extractions: Table;
  readonly streamArn: string;
  readonly tasks: Table;
  /** What is sealed of each request, until it has been used. */
  readonly requests: Table;
  /** MACs of the credentials that the bank refused, for some days. */
  readonly refusals: Table;
  /** One item for each caller with failing groups, and one of the operator's pauses (lib/breaker). */
  readonly breakers: Table;
  /** The starts that wait for the provider's rate, and how many were made and refused in each second (lib/rate-limit). */
  readonly startLine: Table;
  /** What was to be erased, and what was: a restore leaves that out (lib/extraction/erase). */
  readonly erasures: Table;
  readonly results: Bucket;

  constructor(scope: Construct, id: string, { config, dataKey }: StorageProps) {
    super(scope, id);
    const table = (name: string, props: TableProps): Table =>
      new Table(this, name, {
        billingMode: BillingMode.PAY_PER_REQUEST,
        encryption: TableEncryption.CUSTOMER_MANAGED,
        encryptionKey: dataKey.key,
        removalPolicy: tableRemovalPolicy(config),
        deletionProtection: !isDisposable(config),
        timeToLiveAttribute: 'expiresAt',
        ...props,
      });
    const withoutBackup = (name: string, key: string, reason: string, props = {}): Table => {
      const made = table(name, { partitionKey: text(key), ...props });
      Validations.of(made).acknowledge({ id: 'AwsSolutions-DDB3', reason });
      return made;
    };

    this.extractions = table('Extractions', {
      partitionKey: text('extractionId'),
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      ...withBackup,
    });
    addRecordIndexes(this.extractions);
    this.streamArn = this.extractions.tableStreamArn ?? '';
    this.tasks = withoutBackup(
      'Tasks',
      'taskId',
      'Its items matter for minutes. Restored callback tokens are invalid, and polling settles without the table.',
    );
    this.requests = withoutBackup(
      'Requests',
      'requestId',
      'An item that was used must be gone, and a backup would keep it for 35 days.',
    );
    this.refusals = withoutBackup(
      'Refusals',
      'credentialsMac',
      'A backup would keep what is derived from credentials beyond its days.',
    );
    this.breakers = withoutBackup(
      'Breakers',
      'name',
      'Its items matter for minutes. Without them, every call to the provider is made.',
      { timeToLiveAttribute: undefined },
    );
    this.startLine = withoutBackup(
      'StartLine',
      'extractionId',
      'Its items matter while an execution waits. Without them, the machine tries the start again.',
    );
    addLineIndex(this.startLine);

    // With a backup: without the tombstones, a restore of Extractions would bring back what was erased.
    this.erasures = table('Erasures', {
      partitionKey: text('erasureId'),
      sortKey: text('item'),
      ...withBackup,
    });
    this.results = resultsBucket(this, { config, dataKey });
  }
}
