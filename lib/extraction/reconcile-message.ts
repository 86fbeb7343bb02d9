import * as v from 'valibot';

/** Why a message asks for a reconcile. Each cause names its first sender; reconcile-extraction moves some to the slow queue. */
export const reconcileCauses = [
  /** start-task: the record is open, and the execution does not wait for anything. */
  'start',
  /** receive-webhook: the outcome is recorded, and the results are not collected yet. */
  'webhook',
  /** start-task without webhook, and reconcile-extraction: the message was delayed until `dueAt`. */
  'due',
  /** sweep-extractions: it found and leased the record. */
  'sweep',
  /** A rule of EventBridge: the execution FAILED, TIMED_OUT or was ABORTED, and will not start anything. */
  'execution-broken',
] as const;

export type ReconcileCause = (typeof reconcileCauses)[number];

/** The body of a message in the reconcile queue. It may arrive more than once, and in any order. */
export type ReconcileMessage = {
  readonly extractionId: string;
  readonly cause: ReconcileCause;
  /**
   * The `dueAt` of the record when it was sent: the end of its delay (`due`), or of the lease (`sweep`), or what it was when the message moved
   * to the slow queue. If another process has moved `dueAt` ahead since, the message is dropped.
   */
  readonly dueAt?: string;
};

/** The schema is made here, so that functions that only send have no valibot in their bundles. */
export const reconcileMessageSchema = () =>
  v.strictObject({
    extractionId: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
    cause: v.picklist(reconcileCauses),
    dueAt: v.exactOptional(v.pipe(v.string(), v.isoTimestamp())),
  });

/**
 * Puts a message into the queue. Resolves once the queue has it. `caller` is the record's `requestedBy`. While one caller has many messages
 * under way, the queue delivers the messages of others first.
 */
export type SendReconcile = (
  message: ReconcileMessage,
  caller: string,
  delaySeconds?: number,
) => Promise<void>;

/** Puts up to ten messages into the queue. Returns those that the queue did not accept. */
export type SendReconcileBatch = (
  batch: readonly { readonly message: ReconcileMessage; readonly caller: string }[],
) => Promise<readonly ReconcileMessage[]>;

/** The limit of SendMessageBatch. */
export const maxPerBatch = 10;
