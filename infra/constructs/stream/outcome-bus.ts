import { Duration } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { stackNameOf } from '../../../lib/aws/stage.ts';
import type { Trigger } from '../../../lib/aws/trigger.ts';
import type { Config } from '../../settings/config.ts';
import { allow } from '../allow.ts';
import type { CosechaFunction } from '../cosecha-function.ts';
import type { DataKey } from '../data-key.ts';
import { DeadLetterQueue } from '../dead-letter-queue.ts';
import type { Storage } from '../storage.ts';
import { streamReading } from './extraction-consumer.ts';
import { outcomePatterns } from './outcome-patterns.ts';

/** A batch of 100 is one call after the other. A call takes some 30 ms, and 300 ms where EventBridge is slow. */
export const publishTimeout = Duration.seconds(60);

type Source = { readonly config: Config; readonly dataKey: DataKey; readonly storage: Storage };

/**
 * A bus with every outcome on it, for more consumers than the two that a shard of the stream allows. The function publish-events is one
 * of the two.
 *
 * An event always fits: EventBridge takes 1 MB, and took 256 KB before 2026
 * (https://aws.amazon.com/blogs/compute/more-room-to-build-serverless-services-now-support-payloads-up-to-1-mb). An event has about
 * 1 KB, and at most 60 KB: 50 actions of 170 bytes, 50 results of three words of 100 characters of 3 bytes, and 5 KB for the rest.
 */
export class OutcomeBus extends Construct {
  readonly bus: EventBus;
  /** What publish-events abandoned, by its position in the stream. */
  readonly deadLetters: DeadLetterQueue;
  readonly triggers: Trigger[] = [];

  constructor(scope: Construct, id: string, { config }: { readonly config: Config }) {
    super(scope, id);
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: `${stackNameOf(config.stage)}-outcomes`,
      description: 'Outcomes of extractions (docs/stream.md)',
    });
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters', { senders: 'publish-events' });
  }

  /** Lets a function read the stream, and connects it. */
  publishWith({ function: target, role }: CosechaFunction, { config, dataKey, storage }: Source): void {
    const { streamArn } = storage;
    // DynamoDB decrypts the stream with the permissions of its reader.
    role.addToPolicy(dataKey.allow('readTables'));
    role.addToPolicy(allow(streamReading, [streamArn]));
    // Lambda sends with the role of the function.
    role.addToPolicy(allow(['sqs:SendMessage'], [this.deadLetters.queueArn]));
    const mapping = new EventSourceMapping(this, 'Consumer', {
      target,
      eventSourceArn: streamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      maxBatchingWindow: Duration.seconds(1),
      filters: outcomePatterns.map((pattern) => FilterCriteria.filter(pattern)),
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      // Retries have no count. They end by age, which is the longest that one record can hold its shard.
      retryAttempts: -1,
      maxRecordAge: Duration.seconds(config.publishForSeconds),
      // Not SqsDestination, which would grant more than SendMessage.
      onFailure: { bind: () => ({ destination: this.deadLetters.queueArn }) },
    });
    // Lambda checks the permissions when it creates the mapping.
    mapping.node.addDependency(role);
    this.triggers.push({
      name: 'outcome bus',
      without: 'No outcome is published.',
      functionName: target.functionName,
      source: streamArn,
    });
  }
}
