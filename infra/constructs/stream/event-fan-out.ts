import { Duration, Fn, Stack } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnPipe } from 'aws-cdk-lib/aws-pipes';
import { Construct, type IConstruct } from 'constructs';
import { stackNameOf } from '../../../lib/aws/stage.ts';
import type { Config } from '../../settings/config.ts';
import { allow } from '../allow.ts';
import type { DataKey } from '../data-key.ts';
import { DeadLetterQueue } from '../dead-letter-queue.ts';
import { EncryptedLogGroup } from '../encrypted-log-group.ts';
import { busEvent, cloudEventTemplate } from './bus-event.ts';
import { outcomePatterns } from './outcome-patterns.ts';

type EventFanOutProps = {
  readonly config: Config;
  readonly dataKey: DataKey;
  readonly streamArn: string;
};

/**
 * `Cosecha-<stage>-<label of the stream>`, such as `Cosecha-prod-2026-01-31T10-00-00.000`. A pipe keeps its source for life
 * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-dynamodb.html). So a new stream needs a new pipe, which
 * CloudFormation creates before it deletes the old one: with a fixed name it would fail. A name that CloudFormation generates
 * is known only once the pipe exists, and its role and alarms name it before.
 */
const pipeNameOf = ({ stage }: Config, streamArn: string): string => {
  const label = Fn.select(3, Fn.split('/', streamArn));
  return `${stackNameOf(stage)}-${Fn.join('-', Fn.split(':', label))}`;
};

/**
 * A bus with every outcome on it, for more consumers than the two that a shard of the stream allows. The pipe is one of
 * the two. The `detail` of each event is a CloudEvent, whose `data` is the record of the stream, unchanged. So the same
 * decoder reads both.
 *
 * A record always fits: an event may have 1 MB (256 KB before 2026,
 * https://aws.amazon.com/blogs/compute/more-room-to-build-serverless-services-now-support-payloads-up-to-1-mb). A record
 * has about 3 KB, and at most 130 KB: two images of 50 actions of 170 bytes, 50 results of three words of 100 characters
 * of 3 bytes, and 5 KB for the rest.
 */
export class EventFanOut extends Construct {
  readonly bus: EventBus;
  readonly pipeName: string;
  readonly logGroup: EncryptedLogGroup;
  private readonly pipe: CfnPipe;
  /** What the pipe abandoned, by its position in the stream. */
  readonly deadLetters: DeadLetterQueue;

  constructor(scope: Construct, id: string, props: EventFanOutProps) {
    super(scope, id);
    this.pipeName = pipeNameOf(props.config, props.streamArn);
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: `${stackNameOf(props.config.stage)}-extractions`,
      description: 'Outcomes of extractions (docs/stream.md)',
    });
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters', { senders: 'the pipe' });
    this.logGroup = new EncryptedLogGroup(this, 'Log', {
      config: props.config,
      dataKey: props.dataKey,
      deliveredBy: { service: 'pipes', name: stackNameOf(props.config.stage) },
      deleteWithOption: true,
    });
    this.pipe = this.connect(this.pipeRole(props), props);
  }

  /**
   * Creates the pipe after another resource. EventBridge uses the role while it creates the pipe, and a role that is seconds old
   * may not have reached it, although its policy exists: "The provided customer role does not have permissions", which rolls back
   * the whole stack (https://github.com/aws/aws-cdk/issues/31664,
   * https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency).
   */
  createPipeAfter(last: IConstruct): void {
    this.pipe.node.addDependency(last);
  }

  /** The role of this one pipe, with exactly what it uses. */
  private pipeRole({ dataKey, streamArn }: EventFanOutProps): Role {
    const stack = Stack.of(this);
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('pipes.amazonaws.com', {
        conditions: {
          StringEquals: {
            'aws:SourceAccount': stack.account,
            'aws:SourceArn': stack.formatArn({
              service: 'pipes',
              resource: 'pipe',
              resourceName: this.pipeName,
            }),
          },
        },
      }),
    });
    const permissions = [
      allow(
        [
          'dynamodb:DescribeStream',
          'dynamodb:GetRecords',
          'dynamodb:GetShardIterator',
          'dynamodb:ListStreams',
        ],
        [streamArn],
      ),
      dataKey.readingTables(),
      allow(['events:PutEvents'], [this.bus.eventBusArn]),
      allow(['sqs:SendMessage'], [this.deadLetters.queueArn]),
    ];
    for (const permission of permissions) role.addToPolicy(permission);
    return role;
  }

  private connect(role: Role, { config, streamArn }: EventFanOutProps): CfnPipe {
    const pipe = new CfnPipe(this, 'Pipe', {
      name: this.pipeName,
      description: 'Puts outcomes of extractions from the stream on the bus',
      roleArn: role.roleArn,
      source: streamArn,
      sourceParameters: {
        filterCriteria: { filters: outcomePatterns.map((pattern) => ({ pattern: JSON.stringify(pattern) })) },
        dynamoDbStreamParameters: {
          startingPosition: 'TRIM_HORIZON',
          // PutEvents takes ten entries.
          batchSize: 10,
          maximumBatchingWindowInSeconds: 1,
          // Every record fits, so only the bus itself can fail. Retries have no count, and end well within the stream's day.
          maximumRetryAttempts: -1,
          maximumRecordAgeInSeconds: Duration.hours(6).toSeconds(),
          onPartialBatchItemFailure: 'AUTOMATIC_BISECT',
          deadLetterConfig: { arn: this.deadLetters.queueArn },
        },
      },
      target: this.bus.eventBusArn,
      targetParameters: {
        inputTemplate: cloudEventTemplate(stackNameOf(config.stage)),
        eventBridgeEventBusParameters: { source: busEvent.source, detailType: busEvent.detailType },
      },
      // Without `includeExecutionData`, which would log the records.
      logConfiguration: {
        level: 'ERROR',
        cloudwatchLogsLogDestination: { logGroupArn: this.logGroup.logGroupArn },
      },
    });
    pipe.node.addDependency(role);
    return pipe;
  }
}
