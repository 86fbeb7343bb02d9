import { Duration } from 'aws-cdk-lib';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Trigger } from '../../lib/aws/trigger.ts';
import { maxDelaySeconds } from '../../lib/extraction/deadlines.ts';
import type { CosechaFunction } from './cosecha-function.ts';
import { DeadLetterQueue } from './dead-letter-queue.ts';
import { consume, createWorkQueue, visibilityTimeout } from './work-queue.ts';

/** A search of 250 entries takes some 10 s. With AWS in trouble, each of its calls may take 5 s. */
export const eraseTimeout = Duration.seconds(120);

/**
 * The fewest that SQS knows. Each erases some ten records a second, beside which extractions notice nothing
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html).
 */
const consumers = 2;

/** In seconds. As of the reconcile queue: the longest delay, one receive that failed, and three minutes. */
export const erasuresLateFrom = maxDelaySeconds + visibilityTimeout(eraseTimeout).toSeconds() + 180;

/**
 * What is to be erased. It is not the reconcile queue, because only its function may delete versions of objects, and because many erasures
 * at once must delay no outcome. A message has ids, and no reference.
 */
export class EraseQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: DeadLetterQueue;
  readonly triggers: Trigger[] = [];

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters', { senders: 'the erase queue' });
    const settings = { deadLetters: this.deadLetters, functionTimeout: eraseTimeout };
    this.queue = createWorkQueue(this, 'Queue', settings);
  }

  /**
   * One message at a time, as of the reconcile queue. Ten searches of 250 entries are 7,500 calls of AWS: at 16 ms each they take the whole timeout,
   * and a function that times out receives them all again. Each search that was done would then be done twice, and so send the search of the next
   * entries twice: over the 40 searches of 10,000 entries, twice as many each time.
   */
  consumeWith(consumer: CosechaFunction): void {
    const trigger = { name: 'erase queue', without: 'Nothing is erased.', atOnce: consumers };
    this.triggers.push(consume(this, 'Consumer', this.queue, consumer, trigger));
  }
}
