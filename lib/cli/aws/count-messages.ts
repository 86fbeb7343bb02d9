import { GetQueueAttributesCommand, type QueueAttributeName, type SQSClient } from '@aws-sdk/client-sqs';

const counts: readonly QueueAttributeName[] = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
];

/** How many messages a queue holds, hidden and delayed ones too. SQS counts approximately. Throws the SDK's errors. */
export const countMessages = async (client: SQSClient, QueueUrl: string): Promise<number> => {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...counts] }),
  );
  return counts.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
};
