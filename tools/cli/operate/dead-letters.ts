import { LambdaClient } from '@aws-sdk/client-lambda';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import type { Deployment } from '../aws/deployment.ts';
import { queueClient } from '../aws/queues.ts';
import { reconcileNow } from './invoke-functions.ts';

export type DeadLetter = { readonly id: string; readonly body: string; readonly receipt: string };

/** Usually longer than a redrive of ten messages takes. A message that is received twice repeats its work, which is safe. */
const hiddenSeconds = 900;

const deadLettersIn = (client: SQSClient, QueueUrl: string) => ({
  /** Up to ten messages, hidden from other receivers for a while; none once all have been received. */
  receive: async (): Promise<readonly DeadLetter[]> => {
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
  remove: async ({ receipt }: DeadLetter) => {
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: receipt }));
  },
  /** Makes it visible again at once. */
  release: async ({ receipt }: DeadLetter) => {
    await client.send(
      new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: receipt, VisibilityTimeout: 0 }),
    );
  },
});

const id = v.pipe(v.string(), v.uuid());

/** A message of the reconcile queue, or the one that the rule for broken executions makes of its event. */
const message = v.object({ extractionId: id, cause: v.string() });

/**
 * The event that the rule matches. EventBridge documents its dead letters only as "the events"
 * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html), so both the event and the message are accepted here.
 */
const brokenExecution = v.object({ source: v.literal('aws.states'), detail: v.object({ name: id }) });

const letter = v.pipe(v.string(), v.parseJson(), v.union([message, brokenExecution]));

/** The extraction of a message of the dead-letter queue, or undefined where Cosecha did not write the message. */
export const parseDeadLetter = (body: string): string | undefined => {
  const { success, output } = v.safeParse(letter, body);
  if (!success) return undefined;
  return 'detail' in output ? output.detail.name : output.extractionId;
};

/** `unknown`: Cosecha did not write it. It stays, as one that `failed` again does. */
export type Redriven =
  | { readonly outcome: 'done'; readonly extractionId: string }
  | { readonly outcome: 'failed'; readonly error: unknown }
  | { readonly outcome: 'unknown' | 'removed' };

type RedriveDeps = {
  readonly letters: Readonly<ReturnType<typeof deadLettersIn>>;
  /**
   * Reconciles an extraction as an operator: its execution may have been redriven since, and its start may still run. Throws
   * where it fails again.
   */
  readonly reconcile: (extractionId: string) => Promise<void>;
  /** The ids of unknown messages to delete. */
  readonly remove?: readonly string[];
  readonly onLetter?: (letter: DeadLetter, redriven: Redriven) => void;
};

/**
 * Receives every message once, reconciles its extraction, and deletes it on success. Messages of one extraction share one
 * try: a day of failures makes hundreds of them, and each can take minutes to fail. Messages that stay are made visible
 * again at the end, as they would otherwise be received again.
 */
export const redriveLetters = async ({ letters, reconcile, remove = [], onLetter }: RedriveDeps) => {
  const counts = { done: 0, failed: 0, unknown: 0, removed: 0 };
  const staying: DeadLetter[] = [];
  const tries = new Map<string, Promise<void>>();
  const reconcileOnce = (extractionId: string): Promise<void> => {
    const result = tries.get(extractionId) ?? reconcile(extractionId);
    tries.set(extractionId, result);
    return result;
  };

  const redrive = async (one: DeadLetter): Promise<Redriven> => {
    const extractionId = parseDeadLetter(one.body);
    if (extractionId === undefined && !remove.includes(one.id)) return { outcome: 'unknown' };
    try {
      if (extractionId !== undefined) await reconcileOnce(extractionId);
      await letters.remove(one);
    } catch (error) {
      return { outcome: 'failed', error };
    }
    return extractionId === undefined ? { outcome: 'removed' } : { outcome: 'done', extractionId };
  };

  for (let batch = await letters.receive(); batch.length > 0; batch = await letters.receive()) {
    for (const one of batch) {
      const redriven = await redrive(one);
      counts[redriven.outcome] += 1;
      if (redriven.outcome === 'failed' || redriven.outcome === 'unknown') staying.push(one);
      onLetter?.(one, redriven);
    }
  }
  for (const one of staying) await letters.release(one);
  return counts;
};

export const deadLettersOnAws = (deployment: Deployment): Pick<RedriveDeps, 'letters' | 'reconcile'> => {
  const { client, output } = deployment;
  const lambda = new LambdaClient(client);
  return {
    letters: deadLettersIn(queueClient(deployment), output('DeadLetterQueueUrl')),
    reconcile: async (extractionId) => {
      await reconcileNow(lambda, output('ReconcileFunctionName'), { trigger: 'operator', extractionId });
    },
  };
};
