import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { queueClient } from '../../cli/aws/queues.ts';
import type { AcceptContext } from './check.ts';

type Wanted = { readonly what: string; readonly fits: (body: string) => boolean };

/** Waits for the first message of a queue that fits, past ones included. Returns its body. */
export const waitForMessage = async (
  { deployment, received, signal, until }: AcceptContext,
  QueueUrl: string,
  { what, fits }: Wanted,
): Promise<string> => {
  const sqs = queueClient(deployment);
  return until(what, async () => {
    const found = received.find(fits);
    if (found !== undefined) return found;
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 2 }),
      { abortSignal: signal },
    );
    for (const { Body = '', ReceiptHandle } of Messages) {
      received.push(Body);
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
    return false;
  });
};
