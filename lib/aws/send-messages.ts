import { createHash } from 'node:crypto';
import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SendErase } from '../extraction/erase/erasure.ts';
import type { SendReconcile, SendReconcileBatch } from '../extraction/reconcile-message.ts';

/**
 * What a caller is in a queue. A message group makes a standard queue fair, and each caller is one tenant: while one has many messages under
 * way, messages of others are received first
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html). It is a digest, because an ARN may be
 * longer than 128 characters. A record that somebody damaged may have no caller, and must not stop the messages of others.
 */
const groupOf = (caller: string): string => createHash('sha256').update(String(caller)).digest('hex');

const sendTo =
  (client: SQSClient, queueUrl: string) =>
  async (message: object, caller: string, delaySeconds = 0): Promise<void> => {
    await client.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(message),
        DelaySeconds: delaySeconds,
        MessageGroupId: groupOf(caller),
      }),
    );
  };

/** Sends to a reconcile queue. Throws the SDK's errors. */
export const sendReconcileTo: (client: SQSClient, queueUrl: string) => SendReconcile = sendTo;

/** Sends to the erase queue. Throws the SDK's errors. */
export const sendEraseTo: (client: SQSClient, queueUrl: string) => SendErase = sendTo;

/**
 * Sends several messages to the reconcile queue, and returns those that SQS refused, because it answers 200 even then. Throws the SDK's
 * errors.
 */
export const sendReconcileBatchTo =
  (client: SQSClient, queueUrl: string): SendReconcileBatch =>
  async (batch) => {
    const { Failed = [] } = await client.send(
      new SendMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: batch.map(({ message, caller }, index) => ({
          Id: String(index),
          MessageBody: JSON.stringify(message),
          MessageGroupId: groupOf(caller),
        })),
      }),
    );
    return Failed.flatMap(({ Id }) => batch[Number(Id)]?.message ?? []);
  };
