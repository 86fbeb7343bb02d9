import type { Telemetry } from '../../observability/telemetry.ts';
import { stuckSeconds, type Timings } from '../deadlines.ts';
import { parseReconcileMessage } from '../reconcile-message.ts';
import type { ReconcileCaller, ReconcileResult } from './steps.ts';

/** A message as Lambda passes it on. */
export type ReceivedMessage = {
  readonly messageId: string;
  readonly body: string;
  readonly attributes: { readonly ApproximateReceiveCount: string };
};

/**
 * The messages that SQS is to deliver again, after the visibility timeout, and in the end to the dead-letter queue.
 * Lambda deletes the others: "Reporting batch item failures",
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export type BatchAnswer = { readonly batchItemFailures: readonly { readonly itemIdentifier: string }[] };

export type ReconcileMessagesDeps = {
  readonly reconcile: (extractionId: string, caller: ReconcileCaller) => Promise<ReconcileResult>;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly telemetry: Telemetry;
};

/** Reports a record that is still open although all its deadlines have passed. The sweep only sends, and does not see it. */
const countStuck = (result: ReconcileResult, { now, timings, telemetry }: ReconcileMessagesDeps): void => {
  const stuck = result.kind === 'gone' ? 0 : stuckSeconds(result.record, now(), timings);
  if (stuck > 0) telemetry.count('OldestStuckSeconds', { value: stuck });
};

/** Whether the message is done. A failure is logged, and the message stays in the queue. */
const reconcileMessage = async (
  { body, attributes }: ReceivedMessage,
  deps: ReconcileMessagesDeps,
): Promise<boolean> => {
  const message = parseReconcileMessage(body);
  if (message === undefined) {
    deps.telemetry.failure('A message of the reconcile queue could not be read.', undefined);
    return false;
  }
  const { extractionId, ...why } = message;
  // A throttle of Lambda counts as a receive, too.
  const afterFailure = Number(attributes.ApproximateReceiveCount) > 1;
  deps.telemetry.about({ extractionId });
  try {
    countStuck(await deps.reconcile(extractionId, { kind: 'queue', ...why, afterFailure }), deps);
    return true;
  } catch (error) {
    deps.telemetry.failure('An extraction could not be reconciled.', error, { extractionId });
    return false;
  }
};

/**
 * Reconciles the extraction of each message, one after another, as results may be large. An id without a record is done:
 * the record was erased, or its retention is over.
 */
export const reconcileMessages = async (
  messages: readonly ReceivedMessage[],
  deps: ReconcileMessagesDeps,
): Promise<BatchAnswer> => {
  const failed: { itemIdentifier: string }[] = [];
  for (const message of messages) {
    if (!(await reconcileMessage(message, deps))) failed.push({ itemIdentifier: message.messageId });
  }
  return { batchItemFailures: failed };
};
