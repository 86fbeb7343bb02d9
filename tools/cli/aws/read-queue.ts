import { GetQueueAttributesCommand, type QueueAttributeName, type SQSClient } from '@aws-sdk/client-sqs';

export type QueueContent = {
  readonly waiting: number;
  /** Sent with a delay that is not over. */
  readonly later: number;
  /** Received by a function and not yet deleted. */
  readonly inFlight: number;
};

const attributes = {
  waiting: 'ApproximateNumberOfMessages',
  later: 'ApproximateNumberOfMessagesDelayed',
  inFlight: 'ApproximateNumberOfMessagesNotVisible',
} as const satisfies Readonly<Record<keyof QueueContent, QueueAttributeName>>;

/** The name of a queue is the last part of its URL. */
export const queueNameOf = (queueUrl: string): string => new URL(queueUrl).pathname.split('/').at(-1) ?? '';

/** How many messages a queue holds. SQS counts approximately. Throws the SDK's errors. */
export const readQueue = async (client: SQSClient, QueueUrl: string): Promise<QueueContent> => {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: Object.values(attributes) }),
  );
  const count = (name: keyof QueueContent): number => Number(Attributes[attributes[name]] ?? 0);
  return { waiting: count('waiting'), later: count('later'), inFlight: count('inFlight') };
};
