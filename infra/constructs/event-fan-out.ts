import { Duration, Stack } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnPipe } from 'aws-cdk-lib/aws-pipes';
import { Construct } from 'constructs';
import type { Config } from '../config.ts';
import { allow } from './allow.ts';
import type { DataKey } from './data-key.ts';
import { DeadLetterQueue } from './dead-letter-queue.ts';
import { EncryptedLogGroup, vendedLogGroupName } from './encrypted-log-group.ts';
import { outcomePatterns } from './outcome-patterns.ts';

interface EventFanOutProps {
  readonly config: Config;
  readonly dataKey: DataKey;
  readonly streamArn: string;
}

/**
 * A bus with every outcome on it, for more readers than the two that a shard of the stream takes. The pipe is one of
 * the two. Each event is a record of the stream as it is, in `detail`, so that the same decoder reads both.
 *
 * It fits. An event may have 1 MB (https://aws.amazon.com/blogs/compute/more-room-to-build-serverless-services-now-support-payloads-up-to-1-mb),
 * 256 KB before 2026. A record is some 3 KB, and 130 KB at the most: two images of 50 actions of 170 bytes, 50 results
 * of three words of 100 characters, 3 bytes each, and 5 KB of the rest.
 */
export class EventFanOut extends Construct {
  readonly bus: EventBus;
  /** Where the pipe tells of what it gave up, by its place in the stream. */
  readonly deadLetters: DeadLetterQueue;

  constructor(scope: Construct, id: string, { config, dataKey, streamArn }: EventFanOutProps) {
    super(scope, id);
    const stack = Stack.of(this);
    const name = `${stack.stackName}-extractions`;
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: name,
      description: 'How extractions end: docs/stream.md',
    });
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters', { senders: 'the pipe' });

    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('pipes.amazonaws.com', {
        conditions: {
          StringEquals: {
            'aws:SourceAccount': stack.account,
            'aws:SourceArn': stack.formatArn({ service: 'pipes', resource: 'pipe', resourceName: name }),
          },
        },
      }),
    });
    const rights = [
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
    for (const right of rights) role.addToPolicy(right);

    const log = new EncryptedLogGroup(this, 'Log', {
      config,
      dataKey,
      logGroupName: vendedLogGroupName('pipes', name),
      goesWithItsPart: true,
    });
    const pipe = new CfnPipe(this, 'Pipe', {
      name,
      description: 'Outcomes of extractions, from the stream to the bus',
      roleArn: role.roleArn,
      source: streamArn,
      sourceParameters: {
        filterCriteria: { filters: outcomePatterns.map((pattern) => ({ pattern: JSON.stringify(pattern) })) },
        dynamoDbStreamParameters: {
          startingPosition: 'TRIM_HORIZON',
          // PutEvents takes ten entries.
          batchSize: 10,
          maximumBatchingWindowInSeconds: 1,
          // Every record fits, so what fails is the bus itself: no count, but an end well within the stream's day.
          maximumRetryAttempts: -1,
          maximumRecordAgeInSeconds: Duration.hours(6).toSeconds(),
          onPartialBatchItemFailure: 'AUTOMATIC_BISECT',
          deadLetterConfig: { arn: this.deadLetters.queueArn },
        },
      },
      target: this.bus.eventBusArn,
      targetParameters: {
        eventBridgeEventBusParameters: { source: 'cosecha', detailType: 'Extraction changed' },
      },
      // Without the records themselves, which would be included by `includeExecutionData`.
      logConfiguration: {
        level: 'ERROR',
        cloudwatchLogsLogDestination: { logGroupArn: log.logGroupArn },
      },
    });
    pipe.node.addDependency(role);
  }
}
