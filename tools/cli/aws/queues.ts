import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Deployment } from './deployment.ts';

/**
 * By default the SDK calls the host in the queue's URL, whatever the endpoint. An emulator's host does not resolve, or is
 * localhost, to which a busy machine fails to connect while ::1 is tried.
 */
export const queueClient = ({ client, isEmulated }: Pick<Deployment, 'client' | 'isEmulated'>): SQSClient =>
  new SQSClient({ ...client, useQueueUrlAsEndpoint: !isEmulated });

const attributes = {
  waiting: 'ApproximateNumberOfMessages',
  /** Sent with a delay that is not over. */
  later: 'ApproximateNumberOfMessagesDelayed',
  /** Received by a function and not yet deleted. */
  inFlight: 'ApproximateNumberOfMessagesNotVisible',
} as const;

/** How many messages a queue holds. SQS counts approximately. Throws the SDK's errors. */
export const readQueue = async (client: SQSClient, QueueUrl: string) => {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: Object.values(attributes) }),
  );
  const count = (name: keyof typeof attributes): number => Number(Attributes[attributes[name]] ?? 0);
  return { waiting: count('waiting'), later: count('later'), inFlight: count('inFlight') };
};

/** How many messages a queue holds, hidden and delayed ones too. SQS counts approximately. Throws the SDK's errors. */
export const countMessages = async (client: SQSClient, queueUrl: string): Promise<number> => {
  const { waiting, later, inFlight } = await readQueue(client, queueUrl);
  return waiting + later + inFlight;
};
