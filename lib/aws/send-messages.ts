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
 * Sends to the erase queue. The message group makes it a fair queue, and each caller is one tenant
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html). The group is a digest, because an ARN
 * may be too long. Throws the SDK's errors.
 */
export const sendEraseTo = (client: SQSClient, queueUrl: string): SendErase => {
  const send = sendTo(client, queueUrl);
  return (message, askedBy, delaySeconds) =>
    send(message, delaySeconds, createHash('sha256').update(askedBy).digest('hex'));
};

/**
 * Sends several messages to the reconcile queue, and returns those that SQS refused, because it answers 200 even then. Throws the SDK's
 * errors.
 */
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
