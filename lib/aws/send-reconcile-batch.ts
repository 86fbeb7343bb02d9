import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SendReconcileBatch } from '../extraction/reconcile-queue.ts';

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
