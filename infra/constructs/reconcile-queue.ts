import { Duration } from 'aws-cdk-lib';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Trigger } from '../../lib/aws/trigger.ts';
import { reconcileSeconds } from '../extraction-machine-definition.ts';
import type { Config } from '../settings/config.ts';
import type { CosechaFunction } from './cosecha-function.ts';
import { DeadLetterQueue } from './dead-letter-queue.ts';
import { consume, createWorkQueue } from './work-queue.ts';

/** As the machine knows it, which waits for no longer. */
export const reconcileTimeout = (config: Config): Duration => Duration.seconds(reconcileSeconds(config));

/**
 * Everything that has to be reconciled outside of the machine. A message has an extractionId and a cause, no data. Reads that fail or take
 * long continue in the slow queue, which has as many consumers of its own, so that they hold none of the first queue (a bulkhead:
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
    const settings = { deadLetters: this.deadLetters, functionTimeout: reconcileTimeout(config) };
    this.queue = createWorkQueue(this, 'Queue', settings);
    this.slow = createWorkQueue(this, 'Slow', settings);
  }

  /**
   * Has this function consume both queues. One message at a time, because memory is sized for one result, a function's
   * timeout for one reconcile, and a record that ends the process must not take others with it.
   */
  consumeWith(consumer: CosechaFunction): void {
    const atOnce = this.config.reconcileConcurrency;
    this.triggers.push(
      consume(this, 'Consumer', this.queue, consumer, {
        name: 'reconcile queue',
        without: 'Results are not collected, and nothing is polled by consent.',
        atOnce,
      }),
      consume(this, 'SlowConsumer', this.slow, consumer, {
        name: 'slow queue',
        without: 'Extractions whose reads fail or take long are not polled, and their results not collected.',
        atOnce,
      }),
    );
  }
}
