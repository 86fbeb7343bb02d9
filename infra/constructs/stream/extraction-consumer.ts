import { Aws, Duration, Stack, Token, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Grant } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  EventSourceMapping,
  type EventSourceMappingOptions,
  FilterCriteria,
  type IFunction,
  MetricType,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import { stackNameOf } from '../../../lib/aws/stage.ts';
import { ConfigError } from '../../settings/config-error.ts';
import { acknowledgeWildcard, viaService } from '../allow.ts';
import { outcomePatterns } from './outcome-patterns.ts';

/** What a reader of the stream does with it. */
export const streamReading = [
  'dynamodb:DescribeStream',
  'dynamodb:GetRecords',
  'dynamodb:GetShardIterator',
  'dynamodb:ListStreams',
];

const metricPeriod = Duration.minutes(5);

/** The stream keeps a record for 24 hours, so 23 of them are left to repair a consumer this far behind. */
const behindFrom = Duration.hours(1);

type Tuning = Pick<
  EventSourceMappingOptions,
  'batchSize' | 'maxBatchingWindow' | 'maxRecordAge' | 'parallelizationFactor' | 'retryAttempts'
>;

/** What a consumer needs of a deployment. The construct `Cosecha` has it. */
type Source = {
  readonly streamArn: string;
  readonly dataKey: Pick<IKey, 'keyArn'>;
  readonly resultsBucket: Pick<IBucket, 'bucketName'>;
};

type From =
  /** The stage of a deployment in the same account and region, which is found in the Parameter Store. */
  | { readonly stage: string; readonly cosecha?: undefined }
  /** A deployment of the same stack, whose parameters do not exist yet when the stack is created. */
  | { readonly stage?: undefined; readonly cosecha: Source };

export type ExtractionConsumerProps = Tuning &
  From & {
    /** Handles the records. It has to return what `consumeExtractionEvents` returns. */
    readonly handler: IFunction;
    /**
     * `outcomes` (default): settled, corrected, reopened, collected, not-collected, advised and erasing. `all`: every change, including
     * requests, the steps before an outcome, and removals.
     */
    readonly changes?: 'outcomes' | 'all';
    /** Lets the function read the results, whose address is in `extraction.results`. False by default. */
    readonly readResults?: boolean;
  };

/**
 * Connects a function to the stream of extractions. Every change is handled at least once, in the order of its
 * extraction, and a change that the function fails on is kept.
 *
 * - It reads from the oldest record that the stream still has, in batches of up to 100, gathered for up to a second.
 * - A failed batch is retried from the record that failed, or is split until that record is alone. It is abandoned after
 *   10 retries, or 12 hours after it came. Meanwhile the records behind it in their shard wait.
 * - An abandoned batch is kept in the bucket `failures` for 14 days, whole. A queue would only receive its position in the
 *   stream, which keeps records for a day (https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html).
 * - There are three alarms, without an action: `abandoned` (a batch was abandoned and kept), `lost` (abandoned and not kept) and
 *   `behind`. A mapping that is disabled or lacks permission counts nothing, so no alarm reports that.
 *
 * The stream's ARN comes from the Parameter Store. An export would keep Cosecha from replacing its stream, for example
 * when the table is restored, as long as anybody imports it. The next deploy of the consumer reads the new ARN.
 */
export class ExtractionConsumer extends Construct {
  readonly mapping: EventSourceMapping;
  readonly failures: Bucket;
  readonly abandoned: Alarm;
  readonly lost: Alarm;
  readonly behind: Alarm;

  constructor(scope: Construct, id: string, props: ExtractionConsumerProps) {
    super(scope, id);
    if (props.cosecha !== undefined) refuseElsewhere(props.cosecha, this);
    const { stage, cosecha, handler, changes = 'outcomes', readResults = false, ...tuning } = props;
    const source = cosecha ?? published(this, stage);
    this.failures = failuresBucket(this);
    this.mapping = this.mapStream(handler, source.streamArn, changes, tuning);
    this.allow(handler, streamReading, source.streamArn);
    // The stream is encrypted with the table's key, which DynamoDB uses with the consumer's permissions.
    const { keyArn } = source.dataKey;
    this.allow(handler, ['kms:Decrypt', 'kms:DescribeKey'], keyArn, viaService('dynamodb'));
    this.allowFailures(handler);
    if (readResults) this.allowResults(handler, source.resultsBucket.bucketName, keyArn);
    this.abandoned = this.alarm(
      'Abandoned',
      this.mappingMetric('OnFailureDestinationDeliveredEventCount'),
      `Changes of extractions could not be handled: they are in the bucket ${this.failures.bucketName}. See "When a consumer fails" in docs/stream.md of Cosecha.`,
    );
    this.lost = this.alarm(
      'Lost',
      this.mappingMetric('DroppedEventCount'),
      'Changes of extractions were abandoned and could not be kept either. See "Catch up" in docs/stream.md of Cosecha.',
    );
    this.behind = this.alarm(
      'Behind',
      handler.metric('IteratorAge', { statistic: Stats.MAXIMUM, period: metricPeriod }),
      'Changes of extractions are handled more than an hour late; the stream keeps them for 24.',
      behindFrom.toMilliseconds(),
    );
  }

  private mapStream(
    handler: IFunction,
    eventSourceArn: string,
    changes: 'outcomes' | 'all',
    tuning: Tuning,
  ): EventSourceMapping {
    return new EventSourceMapping(this, 'Mapping', {
      target: handler,
      eventSourceArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      maxBatchingWindow: Duration.seconds(1),
      retryAttempts: 10,
      maxRecordAge: Duration.hours(12),
      ...tuning,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      ...(changes === 'all'
        ? {}
        : { filters: outcomePatterns.map((pattern) => FilterCriteria.filter(pattern)) }),
      // Not S3OnFailureDestination, which would also let the function read and delete there.
      onFailure: { bind: () => ({ destination: this.failures.bucketArn }) },
      supportS3OnFailureDestination: true,
      metricsConfig: { metrics: [MetricType.EVENT_COUNT] },
    });
  }

  private allowFailures(handler: IFunction): void {
    this.allow(handler, ['s3:ListBucket'], this.failures.bucketArn);
    // Where Lambda puts discarded batches: `aws/lambda/<id of the mapping>/yyyy/mm/dd/…`.
    const batches = this.failures.arnForObjects('aws/lambda/*');
    this.allow(handler, ['s3:PutObject'], batches);
    acknowledgeWildcard(
      handler.role ?? handler,
      batches,
      'Lambda names the objects by batch; it writes to no other prefix of the bucket.',
    );
  }

  private allowResults(handler: IFunction, bucketName: string, dataKeyArn: string): void {
    const results = `arn:${Aws.PARTITION}:s3:::${bucketName}/*`;
    this.allow(handler, ['s3:GetObject'], results);
    this.allow(handler, ['kms:Decrypt'], dataKeyArn, viaService('s3'));
    acknowledgeWildcard(
      handler.role ?? handler,
      results,
      'Results are named by extraction, and the bucket holds nothing else.',
    );
  }

  /** Granted before the mapping is created, as Lambda checks the permissions on the stream then. */
  private allow(
    grantee: IFunction,
    actions: string[],
    resource: string,
    conditions: Record<string, Record<string, string>> = {},
  ): void {
    Grant.addToPrincipal({ grantee, actions, resourceArns: [resource], conditions }).applyBefore(
      this.mapping,
    );
  }

  private mappingMetric(metricName: string): Metric {
    return new Metric({
      namespace: 'AWS/Lambda',
      metricName,
      dimensionsMap: { EventSourceMappingUUID: this.mapping.eventSourceMappingId },
      statistic: Stats.SUM,
      period: metricPeriod,
    });
  }

  private alarm(id: string, metric: Metric, alarmDescription: string, threshold = 1): Alarm {
    return new Alarm(this, id, {
      alarmDescription,
      metric,
      threshold,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }
}

/** Lambda reads a stream of its own region and account only, and a token of the other stack fails at AWS alone. */
const refuseElsewhere = (cosecha: Source, consumer: Construct): void => {
  if (!Construct.isConstruct(cosecha)) return;
  for (const where of ['region', 'account'] as const) {
    const its = Stack.of(cosecha)[where];
    const own = Stack.of(consumer)[where];
    if (its === own || Token.isUnresolved(its) || Token.isUnresolved(own)) continue;
    throw new ConfigError(
      `${consumer.node.path} is in ${own}, and Cosecha in ${its}: a consumer of the stream has to be in the same ${where}. Elsewhere, add a rule to the event bus (docs/stream.md, "From another account").`,
    );
  }
};

/** What the stack of a stage publishes. The bucket's name is read where it is used, as an unused parameter would be in the template. */
const published = (scope: Construct, stage: string): Source => {
  const names = streamParameters(stage);
  const read = (name: string): string => StringParameter.valueForStringParameter(scope, name);
  return {
    streamArn: read(names.streamArn),
    dataKey: { keyArn: read(names.dataKeyArn) },
    get resultsBucket() {
      return { bucketName: read(names.resultsBucketName) };
    },
  };
};

const failuresBucket = (scope: Construct): Bucket => {
  const bucket = new Bucket(scope, 'Failures', {
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    lifecycleRules: [{ expiration: Duration.days(14) }],
  });
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason: 'Only Lambda writes here, what it could not deliver, and an alarm reports each object.',
  });
  return bucket;
};

/** Names in the Parameter Store, where a stack publishes what consumers of its stream need. */
export const streamParameters = (stage: string) => ({
  streamArn: `/${stackNameOf(stage)}/extractions-stream-arn`,
  dataKeyArn: `/${stackNameOf(stage)}/data-key-arn`,
  resultsBucketName: `/${stackNameOf(stage)}/results-bucket-name`,
});
