import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SendErase } from '../extraction/erase/erasure.ts';

/** Sends to the erase queue. Throws the SDK's errors. */
export const sendEraseTo =
  (client: SQSClient, queueUrl: string): SendErase =>
  async (message, delaySeconds = 0) => {
    await client.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(message),
        DelaySeconds: delaySeconds,
      }),
    );
  };
