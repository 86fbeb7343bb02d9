import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SendReconcile } from '../extraction/reconcile-queue.ts';

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
