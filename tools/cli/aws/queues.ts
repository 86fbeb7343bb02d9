import { GetQueueAttributesCommand, type QueueAttributeName, SQSClient } from '@aws-sdk/client-sqs';
import type { Deployment } from './deployment.ts';

/**
 * By default the SDK calls the host in the queue's URL, whatever the endpoint. An emulator's host does not resolve, or is
 * localhost, to which a busy machine fails to connect while ::1 is tried.
 */
export const queueClient = ({ client, isEmulated }: Pick<Deployment, 'client' | 'isEmulated'>): SQSClient =>
  new SQSClient({ ...client, useQueueUrlAsEndpoint: !isEmulated });

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

export const queueNameOf = (queueUrl: string): string => new URL(queueUrl).pathname.split('/').at(-1) ?? '';

/** How many messages a queue holds. SQS counts approximately. Throws the SDK's errors. */
export const readQueue = async (client: SQSClient, QueueUrl: string): Promise<QueueContent> => {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: Object.values(attributes) }),
  );
  const count = (name: keyof QueueContent): number => Number(Attributes[attributes[name]] ?? 0);
  return { waiting: count('waiting'), later: count('later'), inFlight: count('inFlight') };
};

/** How many messages a queue holds, hidden and delayed ones too. SQS counts approximately. Throws the SDK's errors. */
export const countMessages = async (client: SQSClient, queueUrl: string): Promise<number> => {
  const { waiting, later, inFlight } = await readQueue(client, queueUrl);
  return waiting + later + inFlight;
};
