import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Deployment } from './deployment.ts';

/**
 * By default the SDK calls the host in the queue's URL, whatever the endpoint. An emulator's host does not resolve, or is
 * localhost, to which a busy machine fails to connect while ::1 is tried.
 */
export const queueClient = ({ client, isEmulated }: Pick<Deployment, 'client' | 'isEmulated'>): SQSClient =>
  new SQSClient({ ...client, useQueueUrlAsEndpoint: !isEmulated });

export const queueNameOf = (queueUrl: string): string => new URL(queueUrl).pathname.split('/').at(-1) ?? '';

/**
 * How many messages a queue holds: waiting, sent with a delay that is not over, and received by a function and not yet deleted. SQS
 * counts approximately. Throws the SDK's errors.
 */
export const readQueue = async (client: SQSClient, QueueUrl: string) => {
  const kinds = ['', 'Delayed', 'NotVisible'] as const;
  const AttributeNames = kinds.map((kind) => `ApproximateNumberOfMessages${kind}` as const);
  const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }));
  const [waiting = 0, later = 0, inFlight = 0] = AttributeNames.map((name) =>
    Number(Attributes?.[name] ?? 0),
  );
  return { waiting, later, inFlight };
};

/** How many messages a queue holds, hidden and delayed ones too. SQS counts approximately. Throws the SDK's errors. */
export const countMessages = async (client: SQSClient, queueUrl: string): Promise<number> => {
  const { waiting, later, inFlight } = await readQueue(client, queueUrl);
  return waiting + later + inFlight;
};
