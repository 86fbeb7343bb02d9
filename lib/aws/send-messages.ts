import { createHash } from 'node:crypto';
import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SendErase } from '../extraction/erase/erasure.ts';
import type { SendReconcile, SendReconcileBatch } from '../extraction/reconcile-message.ts';

const sendTo =
  (client: SQSClient, queueUrl: string) =>
  async (message: object, delaySeconds = 0, group?: string): Promise<void> => {
    await client.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(message),
        DelaySeconds: delaySeconds,
        ...(group !== undefined && { MessageGroupId: group }),
      }),
    );
  };

/** Sends to the reconcile queue. Throws the SDK's errors. */
export const sendReconcileTo: (client: SQSClient, queueUrl: string) => SendReconcile = sendTo;

/**
 * Sends to the erase queue. A group of a standard queue is a tenant of a fair queue
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html). It is a digest, as an ARN may be too long
 * for it. Throws the SDK's errors.
 */
export const sendEraseTo = (client: SQSClient, queueUrl: string): SendErase => {
  const send = sendTo(client, queueUrl);
  return (message, askedBy, delaySeconds) =>
    send(message, delaySeconds, createHash('sha256').update(askedBy).digest('hex'));
};

/** Sends a batch to the reconcile queue. SQS answers 200 even if it refuses some of it. Throws the SDK's errors. */
export const sendReconcileBatchTo =
  (client: SQSClient, queueUrl: string): SendReconcileBatch =>
  async (messages) => {
    const { Failed = [] } = await client.send(
      new SendMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: messages.map((message, index) => ({
          Id: String(index),
          MessageBody: JSON.stringify(message),
        })),
      }),
    );
    return Failed.flatMap(({ Id }) => messages[Number(Id)] ?? []);
  };
