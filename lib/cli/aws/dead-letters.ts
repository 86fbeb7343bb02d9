import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';

export type DeadLetter = { readonly id: string; readonly body: string; readonly receipt: string };

/** The dead-letter queue, as a redrive needs it. */
export type DeadLetters = {
  /** Some, hidden from everybody else for a while; none, when the queue has no more to show. */
  readonly receive: () => Promise<readonly DeadLetter[]>;
  readonly remove: (letter: DeadLetter) => Promise<void>;
  /** Lets others see it again at once. */
  readonly release: (letter: DeadLetter) => Promise<void>;
};

/**
 * Longer than a redrive of ten messages takes as a rule. Should it be shorter, a message is received again, and what
 * it asks for is done again, which does no harm.
 */
const hiddenSeconds = 900;

export const deadLettersIn = (client: SQSClient, QueueUrl: string): DeadLetters => ({
  receive: async () => {
    const { Messages = [] } = await client.send(
      // Waits, as a queue's short poll asks only some of its servers and may find nothing where there is something
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
