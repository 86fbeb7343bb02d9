import * as v from 'valibot';

/** Why a message asks for a reconcile, and who sends it. */
export const reconcileCauses = [
  /** start-task: the record is open, with nothing for the execution to wait for. */
  'start',
  /** receive-webhook: the outcome is recorded. The results are not collected yet. */
  'webhook',
  /** start-task without webhook, and reconcile-extraction: the message was delayed until `dueAt`. */
  'due',
  /** sweep-extractions: it found and leased the record. */
  'sweep',
  /** A rule of EventBridge: the execution FAILED, TIMED_OUT or was ABORTED, and starts nothing any more. */
  'execution-broken',
] as const;

export type ReconcileCause = (typeof reconcileCauses)[number];

/** The body of a message in the reconcile queue. It is delivered at least once, in any order, and may be repeated. */
export type ReconcileMessage = {
  readonly extractionId: string;
  readonly cause: ReconcileCause;
  /**
   * The `dueAt` that the message is for: until which it was delayed (`due`), of the lease (`sweep`), or when it moved to the slow queue.
   * It is dropped if another process has moved `dueAt` ahead since.
   */
  readonly dueAt?: string;
};

/** Parses the body of a message. Returns undefined if Cosecha did not write it. */
export const parseReconcileMessage = (body: string): ReconcileMessage | undefined => {
  // Made here, so that the bundles of functions that only send contain no valibot.
  const schema = v.strictObject({
    extractionId: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
    cause: v.picklist(reconcileCauses),
    dueAt: v.exactOptional(v.pipe(v.string(), v.isoTimestamp())),
  });
  try {
    const parsed = v.safeParse(schema, JSON.parse(body));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
};

/** Puts a message into the queue. Resolves once the queue has it. */
export type SendReconcile = (message: ReconcileMessage, delaySeconds?: number) => Promise<void>;

/** Puts up to ten messages into the queue. Returns those that the queue did not accept. */
export type SendReconcileBatch = (
  messages: readonly ReconcileMessage[],
) => Promise<readonly ReconcileMessage[]>;

/** SendMessageBatch takes at most ten messages. */
export const maxPerBatch = 10;

/** A message as Lambda passes it on. */
export type ReceivedMessage = { readonly messageId: string; readonly body: string };

/**
 * The messages that SQS is to deliver again, after the visibility timeout, and in the end to the dead-letter queue.
 * Lambda deletes the others: "Reporting batch item failures",
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export type BatchAnswer = { readonly batchItemFailures: readonly { readonly itemIdentifier: string }[] };
