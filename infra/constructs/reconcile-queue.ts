import { Duration } from 'aws-cdk-lib';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Trigger } from '../../lib/aws/trigger.ts';
import { reconcileSeconds } from '../extraction-machine-definition.ts';
import type { Config } from '../settings/config.ts';
import type { CosechaFunction } from './cosecha-function.ts';
import { DeadLetterQueue } from './dead-letter-queue.ts';

/** As the machine knows it, which waits for no longer. */
export const reconcileTimeout = (config: Config): Duration => Duration.seconds(reconcileSeconds(config));

/**
 * Lambda receives a message again after a throttle, and such a receive counts, so that AWS recommends at least 5
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html). With the visibility timeout below, a message
 * that always fails is a dead letter after 5 × 12 minutes. The sweep does not wait for that: it sends another one.
 */
const maxReceives = 5;

/** "At least six times the configuration timeout on your function", on the same page. */
export const visibilityTimeout = (config: Config): Duration =>
  Duration.seconds(6 * reconcileTimeout(config).toSeconds());

/**
 * Everything that has to be reconciled outside of the machine. A message has an extractionId and a cause, no data. Those
 * that fail at every receive go to the dead-letter queue, on which there is an alarm. Reads that fail or take long continue in
 * the slow queue, which has as many consumers of its own, so that they hold none of the first queue (a bulkhead:
 * https://docs.aws.amazon.com/wellarchitected/latest/reliability-pillar/rel_fault_isolation_use_bulkhead.html). Both are fair queues: their
 * senders give each caller a message group (lib/aws/send-messages.ts).
 */
export class ReconcileQueue extends Construct {
  readonly queue: Queue;
  readonly slow: Queue;
  readonly deadLetters: DeadLetterQueue;
  readonly triggers: Trigger[] = [];
  private readonly config: Config;

  constructor(scope: Construct, id: string, { config }: { readonly config: Config }) {
    super(scope, id);
    this.config = config;
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters', {
      senders: 'the reconcile queue and EventBridge',
    });
    const settings = {
      // SQS's own key, with which every service may send. Messages contain ids and causes, no data.
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      visibilityTimeout: visibilityTimeout(config),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: maxReceives },
    };
    this.queue = new Queue(this, 'Queue', settings);
    this.slow = new Queue(this, 'Slow', settings);
  }

  /**
   * Has this function consume both queues. One message at a time, because memory is sized for one result, a function's
   * timeout for one reconcile, and a record that ends the process must not take others with it.
   */
  consumeWith({ function: target, role }: CosechaFunction): void {
    for (const [id, queue, name, without] of [
      [
        'Consumer',
        this.queue,
        'reconcile queue',
        'Results are not collected, and nothing is polled by consent.',
      ],
      [
        'SlowConsumer',
        this.slow,
        'slow queue',
        'Extractions whose reads fail or take long are not polled, and their results not collected.',
      ],
    ] as const) {
      const mapping = new EventSourceMapping(this, id, {
        target,
        eventSourceArn: queue.queueArn,
        batchSize: 1,
        maxConcurrency: this.config.reconcileConcurrency,
        reportBatchItemFailures: true,
      });
      // Lambda checks the permissions when it creates the mapping.
      mapping.node.addDependency(role);
      this.triggers.push({
        name,
        without,
        functionName: target.functionName,
        source: queue.queueArn,
        atOnce: this.config.reconcileConcurrency,
      });
    }
  }
}
