import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { Deployment } from '../../cli/aws/deployment.ts';
import { queueClient } from '../../cli/aws/queues.ts';

/** How a check waits. */
type Waiting = {
  readonly signal: AbortSignal;
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** The messages of a queue of the fake provider's stack. Several checks may wait for messages of one queue. */
export type Inbox = {
  /** The first message that fits, past ones included. */
  readonly until: (waiting: Waiting, fits: (body: string) => boolean) => Promise<string>;
};

export const openInbox = (deployment: Deployment, QueueUrl: string): Inbox => {
  const sqs = queueClient(deployment);
  const received: string[] = [];
  const receive = async (abortSignal: AbortSignal): Promise<void> => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 2 }),
      { abortSignal },
    );
    for (const { Body = '', ReceiptHandle } of Messages) {
      received.push(Body);
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  };
  return {
    until: async ({ signal, sleep }, fits) => {
      for (;;) {
        const found = received.find(fits);
        if (found !== undefined) return found;
        await receive(signal);
        await sleep(200);
      }
    },
  };
};
