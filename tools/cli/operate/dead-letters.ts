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

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const id = v.pipe(v.string(), v.uuid());

/** A message of the reconcile queue, or the one that the rule for broken executions makes of its event. */
const message = v.object({ extractionId: id, cause: v.string() });

/**
 * The event that the rule matches. EventBridge documents its dead letters only as "the events"
 * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html), so both the event and the message are accepted here.
 */
const brokenExecution = v.object({ source: v.literal('aws.states'), detail: v.object({ name: id }) });

/** The extraction of a message of the dead-letter queue, or undefined where Cosecha did not write the message. */
export const parseDeadLetter = (body: string): string | undefined => {
  const json = parseJson(body);
  if (v.is(message, json)) return json.extractionId;
  return v.is(brokenExecution, json) ? json.detail.name : undefined;
};

type RedriveDeps = {
  readonly letters: Readonly<ReturnType<typeof deadLettersIn>>;
  /**
   * Reconciles an extraction as an operator: its execution may have been redriven since, and its start may still run. Throws
   * where it fails again.
   */
  readonly reconcile: (extractionId: string) => Promise<void>;
  readonly onDone?: (letter: DeadLetter, extractionId: string) => void;
  readonly onFailed?: (letter: DeadLetter, error: unknown) => void;
  readonly onUnknown?: (letter: DeadLetter) => void;
  /** Which messages without an extraction are deleted. Default: none. */
  readonly isRemoved?: (letter: DeadLetter) => boolean;
  readonly onRemoved?: (letter: DeadLetter) => void;
};

/**
 * Receives every message once, reconciles its extraction, and deletes it on success. Messages of one extraction share one
 * try: a day of failures makes hundreds of them, and each can take minutes to fail. Messages that stay are made visible
 * again at the end, as they would otherwise be received again.
 */
export const redriveLetters = async (deps: RedriveDeps) => {
  const { letters, reconcile, onDone, onFailed, onUnknown, isRemoved, onRemoved } = deps;
  const counts = { done: 0, failed: 0, unknown: 0, removed: 0 };
  const staying: DeadLetter[] = [];
  const tries = new Map<string, Promise<void>>();
  const reconcileOnce = (extractionId: string): Promise<void> => {
    const result = tries.get(extractionId) ?? reconcile(extractionId);
    tries.set(extractionId, result);
    return result;
  };

  const redrive = async (letter: DeadLetter): Promise<void> => {
    const extractionId = parseDeadLetter(letter.body);
    if (extractionId === undefined && isRemoved?.(letter)) {
      await letters.remove(letter);
      counts.removed += 1;
      onRemoved?.(letter);
      return;
    }
    if (extractionId === undefined) {
      counts.unknown += 1;
      staying.push(letter);
      onUnknown?.(letter);
      return;
    }
    try {
      await reconcileOnce(extractionId);
      await letters.remove(letter);
      counts.done += 1;
      onDone?.(letter, extractionId);
    } catch (error) {
      counts.failed += 1;
      staying.push(letter);
      onFailed?.(letter, error);
    }
  };

  for (let batch = await letters.receive(); batch.length > 0; batch = await letters.receive()) {
    for (const letter of batch) await redrive(letter);
  }
  for (const letter of staying) await letters.release(letter);
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
