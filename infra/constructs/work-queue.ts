import { Duration } from 'aws-cdk-lib';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { type IQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { MappingTrigger } from '../../lib/aws/trigger.ts';
import type { CosechaFunction } from './cosecha-function.ts';

/** What every queue has. SQS's own key, with which every service may send: messages contain ids and causes, no data. */
export const queueDefaults = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  retentionPeriod: Duration.days(14),
} as const;

/**
 * Lambda receives a message again after a throttle, and such a receive counts, so that AWS recommends at least 5
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html). With the visibility timeout below, a message
 * that always fails is a dead letter after 5 × 12 minutes. The sweep does not wait for that: it sends another one.
 */
const maxReceives = 5;

/** "At least six times the configuration timeout on your function", on the same page. */
export const visibilityTimeout = (functionTimeout: Duration): Duration =>
  Duration.seconds(6 * functionTimeout.toSeconds());

/** A queue for one function. Messages that fail at every receive go to the dead-letter queue, on which there is an alarm. */
export const createWorkQueue = (
  scope: Construct,
  id: string,
  { deadLetters, functionTimeout }: { readonly deadLetters: IQueue; readonly functionTimeout: Duration },
): Queue =>
  new Queue(scope, id, {
    ...queueDefaults,
    visibilityTimeout: visibilityTimeout(functionTimeout),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: maxReceives },
  });

/** Has a function consume a queue, one message at a time. */
export const consume = (
  scope: Construct,
  id: string,
  queue: IQueue,
  { function: target, role }: CosechaFunction,
  { atOnce, ...described }: Required<Pick<MappingTrigger, 'name' | 'without' | 'atOnce'>>,
): MappingTrigger => {
  const mapping = new EventSourceMapping(scope, id, {
    target,
    eventSourceArn: queue.queueArn,
    batchSize: 1,
    maxConcurrency: atOnce,
    reportBatchItemFailures: true,
  });
  // Lambda checks the permissions when it creates the mapping.
  mapping.node.addDependency(role);
  return { ...described, functionName: target.functionName, source: queue.queueArn, atOnce };
};
