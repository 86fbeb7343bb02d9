import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SendReconcile, SendReconcileBatch } from '../extraction/reconcile-message.ts';

/** Sends to the reconcile queue. Throws the SDK's errors. */
export const sendReconcileTo =
  (client: SQSClient, queueUrl: string): SendReconcile =>
  async (message, delaySeconds = 0) => {
    await client.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(message),
        DelaySeconds: delaySeconds,
      }),
    );
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
