import type { Telemetry } from '../../observability/telemetry.ts';
import { stuckSeconds, type Timings } from '../deadlines.ts';
import { isProblem } from '../provider-codes.ts';
import { parseReconcileMessage } from '../reconcile-message.ts';
import type { ExtractionStatus } from '../record.ts';
import type { Result } from '../run.ts';
import type { ReconcileInvoker } from './reconcile.ts';

/** The event of a direct invocation of reconcile-extraction: by the machine, or by an operator. */
export type ReconcileEvent =
  | {
      readonly trigger: 'machine';
      readonly extractionId: string;
      readonly afterFailure?: boolean;
      /** The cause of the last failed start. Only a code counts. */
      readonly lastProblem?: unknown;
    }
  | { readonly trigger: 'operator'; readonly extractionId: string };

/** The answer of reconcile-extraction. */
export type ReconcileAnswer = {
  readonly extractionId: string;
  readonly status: ExtractionStatus | 'GONE';
  /** The record is not closed yet. The queue continues, or the sweep. */
  readonly deferred: boolean;
};

/** Who invokes, in the domain's terms. */
export const reconcileInvokerOf = (event: ReconcileEvent): ReconcileInvoker => {
  if (event.trigger !== 'machine') return { kind: 'operator' };
  const { afterFailure, lastProblem } = event;
  return {
    kind: 'machine',
    afterFailure: afterFailure === true,
    ...(isProblem(lastProblem) ? { lastProblem } : {}),
  };
};

/** Thrown to the machine only, whose Retry is the poll. The function's Errors metric therefore counts polls. */
export class NotYet extends Error {
  override readonly name = 'NotYet';

  constructor(message: string) {
    super(message);
    // The runtime logs the stack with every poll. It is always the same, and would be most of the line.
    this.stack = `${this.name}: ${message}`;
  }
}

/** Returns the answer to the invoker. Throws NotYet if the machine has to invoke the function again. */
export const answerReconcile = (
  extractionId: string,
  { as, why = 'contended', record }: Result,
  invoker: ReconcileInvoker['kind'],
): ReconcileAnswer => {
  if (as === 'gone') return { extractionId, status: 'GONE', deferred: false };
  if (as === 'not-yet' && invoker === 'machine') throw new NotYet(why);
  return { extractionId, status: record.status, deferred: as !== 'closed' };
};

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
  /** The messages are of the slow queue. */
  readonly isSlow: boolean;
  readonly reconcile: (extractionId: string, invoker: ReconcileInvoker) => Promise<Result>;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly telemetry: Telemetry;
};

/** Reports a record that is still open although all its deadlines have passed. The sweep only sends, and does not see it. */
const countStuck = (result: Result, { now, timings, telemetry }: ReconcileMessagesDeps): void => {
  const stuck = result.as === 'gone' ? 0 : stuckSeconds(result.record, now(), timings);
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
    const invoker = { kind: 'queue', ...why, afterFailure, isSlow: deps.isSlow } as const;
    countStuck(await deps.reconcile(extractionId, invoker), deps);
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
