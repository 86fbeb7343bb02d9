import type { SQSClient } from '@aws-sdk/client-sqs';
import { readQueue } from './read-queue.ts';

/** How many messages a queue holds, hidden and delayed ones too. SQS counts approximately. Throws the SDK's errors. */
export const countMessages = async (client: SQSClient, queueUrl: string): Promise<number> => {
  const { waiting, later, inFlight } = await readQueue(client, queueUrl);
  return waiting + later + inFlight;
};
