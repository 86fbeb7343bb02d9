import { Duration, Validations } from 'aws-cdk-lib';
import {
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

const dueIndex = 'due';
const lineIndex = 'line';
/** Indexes of names that callers give, each by the attribute of the same name. */
const nameIndexes = ['reference', 'batch'] as const;

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

/**
 * Sparse: only what has a callback token, and can be released, has a `line`. All are in one partition, which takes 1,000 writes a
 * second: two for each start in line, of at most 200 a second.
 */
const addLineIndex = (startLine: Table): void => {
  startLine.addGlobalSecondaryIndex({
    indexName: lineIndex,
    partitionKey: { name: 'line', type: AttributeType.STRING },
    sortKey: { name: 'slot', type: AttributeType.STRING },
    projectionType: ProjectionType.INCLUDE,
    nonKeyAttributes: ['requestId', 'callbackToken'],
  });
};

/** With a backup: without the tombstones, a restore of Extractions would bring back what was erased. */
const erasuresTable = (scope: Construct, props: Partial<TableProps>): Table =>
  new Table(scope, 'Erasures', {
    ...props,
    partitionKey: { name: 'erasureId', type: AttributeType.STRING },
    sortKey: { name: 'item', type: AttributeType.STRING },
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  });

/**
 * The seven tables and the bucket. `Table` and not `TableV2`, which makes global tables: at most one start depends on
 * conditional writes, which hold within one region only. So never add a replica.
 */
export class Storage extends Construct {
  readonly extractions: Table;
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
    const table = {
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: dataKey.key,
      removalPolicy: tableRemovalPolicy(config),
      deletionProtection: !isDisposable(config),
      timeToLiveAttribute: 'expiresAt',
    };

    this.extractions = new Table(this, 'Extractions', {
      ...table,
      partitionKey: { name: 'extractionId', type: AttributeType.STRING },
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    });
    this.extractions.addGlobalSecondaryIndex({
      indexName: dueIndex,
      partitionKey: { name: 'dueShard', type: AttributeType.NUMBER },
      sortKey: { name: 'dueAt', type: AttributeType.STRING },
      projectionType: ProjectionType.KEYS_ONLY,
    });
    // Sparse: a record without the name has no entry. None of these attributes ever changes, so that an entry costs one write,
    // with the record: an update writes to an index only if it changes a key or a projected attribute
    // (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes). A query names the
    // first key, or the first two: the entries of all callers, or of one alone
    // (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.DesignPattern.MultiAttributeKeys.html).
    for (const name of nameIndexes) {
      this.extractions.addGlobalSecondaryIndex({
        indexName: name,
        partitionKey: { name, type: AttributeType.STRING },
        sortKeys: [
          { name: 'requestedBy', type: AttributeType.STRING },
          { name: 'requestedAt', type: AttributeType.STRING },
        ],
        projectionType: ProjectionType.KEYS_ONLY,
      });
    }

    const withoutBackup = (name: string, key: string, reason: string, props = {}): Table => {
      const made = new Table(this, name, {
        ...table,
        ...props,
        partitionKey: { name: key, type: AttributeType.STRING },
      });
      Validations.of(made).acknowledge({ id: 'AwsSolutions-DDB3', reason });
      return made;
    };
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

    this.erasures = erasuresTable(this, table);
    this.results = resultsBucket(this, { config, dataKey });
  }
}
