import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';

export type DeadLetter = { readonly id: string; readonly body: string; readonly receipt: string };

/** A dead-letter queue, as a redrive needs it. */
export type DeadLetters = {
  /** Up to ten messages, hidden from other receivers for a while; none once all have been received. */
  readonly receive: () => Promise<readonly DeadLetter[]>;
  readonly remove: (letter: DeadLetter) => Promise<void>;
  /** Makes it visible again at once. */
  readonly release: (letter: DeadLetter) => Promise<void>;
};

/** Usually longer than a redrive of ten messages takes. A message that is received twice repeats its work, which is safe. */
const hiddenSeconds = 900;

export const deadLettersIn = (client: SQSClient, QueueUrl: string): DeadLetters => ({
  receive: async () => {
    const { Messages = [] } = await client.send(
      // A long poll, as a short one asks only some of the queue's servers and may miss messages
      // (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html).
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: hiddenSeconds,
        WaitTimeSeconds: 2,
      }),
    );
    return Messages.map(({ MessageId = '', Body = '', ReceiptHandle = '' }) => ({
      id: MessageId,
      body: Body,
      receipt: ReceiptHandle,
    }));
  },
  remove: async ({ receipt }) => {
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: receipt }));
  },
  release: async ({ receipt }) => {
    await client.send(
      new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: receipt, VisibilityTimeout: 0 }),
    );
  },
});
