import { GetQueueAttributesCommand, type QueueAttributeName, type SQSClient } from '@aws-sdk/client-sqs';
import type { QueueLine } from '../console/sources.ts';

/** How many messages a queue holds. SQS counts approximately. Throws the SDK's errors. */
export const readQueue = async (client: SQSClient, name: string, QueueUrl: string): Promise<QueueLine> => {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesDelayed',
        'ApproximateNumberOfMessagesNotVisible',
      ],
    }),
  );
  const count = (attribute: QueueAttributeName): number => Number(Attributes[attribute] ?? 0);
  return {
    name,
    waiting: count('ApproximateNumberOfMessages'),
    later: count('ApproximateNumberOfMessagesDelayed'),
    inFlight: count('ApproximateNumberOfMessagesNotVisible'),
  };
};
