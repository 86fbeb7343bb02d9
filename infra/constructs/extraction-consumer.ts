import { Aws, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Grant } from 'aws-cdk-lib/aws-iam';
import {
  EventSourceMapping,
  type EventSourceMappingOptions,
  FilterCriteria,
  type IFunction,
  MetricType,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import { BlockPublicAccess, Bucket, BucketEncryption, type CfnBucket } from 'aws-cdk-lib/aws-s3';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import { outcomePatterns } from './outcome-patterns.ts';
import { streamParameters } from './stream-parameters.ts';
import { viaService } from './via-service.ts';

/** Where Lambda puts discarded batches: `aws/lambda/<id of the mapping>/yyyy/mm/dd/…`. */
const failuresPrefix = 'aws/lambda/';

const metricPeriod = Duration.minutes(5);

/** The stream keeps a record for 24 hours: a reader this far behind has the rest of a day to be repaired. */
const behindFrom = Duration.hours(1);

export type ExtractionConsumerProps = Pick<
  EventSourceMappingOptions,
  'batchSize' | 'maxBatchingWindow' | 'maxRecordAge' | 'parallelizationFactor' | 'retryAttempts'
> & {
  /** The stage of the Cosecha stack whose stream is read; it is in the same account and region. */
  readonly stage: string;
  /** Handles the records, with `consumeExtractionEvents`, whose answers the mapping expects. */
  readonly handler: IFunction;
  /**
   * `outcomes` (default): settled, corrected, reopened, collected and not-collected. `all`: every change, the
   * requests, the steps before an outcome and the removals too.
   */
  readonly changes?: 'outcomes' | 'all';
  /** Lets the function read the results themselves, where `extraction.results` says. No by default. */
  readonly readResults?: boolean;
};

/**
 * Connects a function to the stream of extractions, so that a change is handled at least once, in the order of its
 * extraction, and none that the function fails on disappears in silence.
 *
 * - Reads from the oldest record that the stream still has, in batches of up to 100, gathered for up to a second.
 * - A batch that fails goes on at the record that failed, or is split until that one is alone, and is abandoned
 *   after 10 more tries, or 12 hours after it came. Meanwhile the records behind it in their shard wait.
 * - What is abandoned is kept, whole, in the bucket `failures` for 14 days. A queue would only be told where in the
 *   stream it was, and the stream forgets it after a day
 *   (https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html).
 * - Three alarms, without an action: `gaveUp`, `lost` (abandoned, and not kept either) and `behind`.
 *   A mapping that is disabled, or may not read any more, calls nothing and counts nothing: no alarm tells of that.
 *
 * The stream's ARN comes from the Parameter Store, and not from an export: that would keep Cosecha from changing its
 * stream, by restoring the table for example, for as long as anybody reads it. The next deploy of the reader follows.
 */
export class ExtractionConsumer extends Construct {
  readonly mapping: EventSourceMapping;
  readonly failures: Bucket;
  readonly gaveUp: Alarm;
  readonly lost: Alarm;
  readonly behind: Alarm;

  constructor(scope: Construct, id: string, props: ExtractionConsumerProps) {
    super(scope, id);
    const { stage, handler, changes = 'outcomes', readResults = false, ...tuning } = props;
    const names = streamParameters(stage);
    const eventSourceArn = StringParameter.valueForStringParameter(this, names.streamArn);

    this.failures = new Bucket(this, 'Failures', {
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      lifecycleRules: [{ expiration: Duration.days(14) }],
    });
    Validations.of(this.failures).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'Lambda alone writes here, what it could not deliver; each object is announced by an alarm.',
    });

    this.mapping = new EventSourceMapping(this, 'Mapping', {
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
      // Bound by hand: S3OnFailureDestination would let the function read and delete there as well.
      onFailure: { bind: () => ({ destination: this.failures.bucketArn }) },
      supportS3OnFailureDestination: true,
      metricsConfig: { metrics: [MetricType.EVENT_COUNT] },
    });
    const dataKeyArn = StringParameter.valueForStringParameter(this, names.dataKeyArn);
    this.allow(
      handler,
      ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:ListStreams'],
      eventSourceArn,
    );
    // The stream is encrypted with the table's key, which DynamoDB uses in the reader's name.
    this.allow(handler, ['kms:Decrypt', 'kms:DescribeKey'], dataKeyArn, viaService('dynamodb'));
    this.allow(handler, ['s3:ListBucket'], this.failures.bucketArn);
    this.allow(handler, ['s3:PutObject'], this.failures.arnForObjects(`${failuresPrefix}*`));
    const bucket = Stack.of(this).getLogicalId(this.failures.node.defaultChild as CfnBucket);
    acknowledgeEvery(
      handler,
      `<${bucket}.Arn>/${failuresPrefix}*`,
      'Lambda names the objects by batch; it writes to no other place in the bucket.',
    );
    if (readResults) {
      const results = StringParameter.valueForStringParameter(this, names.resultsBucketName);
      this.allow(handler, ['s3:GetObject'], `arn:${Aws.PARTITION}:s3:::${results}/*`);
      this.allow(handler, ['kms:Decrypt'], dataKeyArn, viaService('s3'));
      acknowledgeEvery(
        handler,
        `arn:<AWS::Partition>:s3:::<${parameterId(this, results)}>/*`,
        'Results are named by extraction, and the bucket holds nothing else.',
      );
    }

    const { mapping } = this;
    const counted = (metricName: string) =>
      new Metric({
        namespace: 'AWS/Lambda',
        metricName,
        dimensionsMap: { EventSourceMappingUUID: mapping.eventSourceMappingId },
        statistic: Stats.SUM,
        period: metricPeriod,
      });
    this.gaveUp = this.alarm('GaveUp', counted('OnFailureDestinationDeliveredEventCount'), 1, [
      `Changes of extractions could not be handled: they are in the bucket ${this.failures.bucketName}.`,
      'See "When a consumer fails" in docs/stream.md of Cosecha.',
    ]);
    this.lost = this.alarm('Lost', counted('DroppedEventCount'), 1, [
      'Changes of extractions were abandoned and could not be kept either.',
      'See "Catch up" in docs/stream.md of Cosecha.',
    ]);
    const age = handler.metric('IteratorAge', { statistic: Stats.MAXIMUM, period: metricPeriod });
    this.behind = this.alarm('Behind', age, behindFrom.toMilliseconds(), [
      'Changes of extractions are handled more than an hour late; the stream keeps them for 24.',
    ]);
  }

  private alarm(id: string, metric: Metric, threshold: number, sentences: readonly string[]): Alarm {
    return new Alarm(this, id, {
      alarmDescription: sentences.join(' '),
      metric,
      threshold,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }

  /** Granted before the mapping is made: Lambda tries the stream with these rights as it makes it. */
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
}

/** Writes down why a right on every such object is as narrow as it gets. */
const acknowledgeEvery = (handler: IFunction, objects: string, reason: string): void =>
  Validations.of(handler.role ?? handler).acknowledge({
    id: `AwsSolutions-IAM5[Resource::${objects}]`,
    reason,
  });

/** The logical id of the template's parameter that stands for a value of the Parameter Store. */
const parameterId = (scope: Construct, value: string): string => {
  const { Ref } = Stack.of(scope).resolve(value) as { readonly Ref: string };
  return Ref;
};
