/**
 * Why a message asks for a reconcile. `due` is the only one that the record can refute: a message is dropped if another
 * process has moved `dueAt` ahead since.
 */
export const reconcileCauses = [
  /** start-task left the record open, with nothing for the machine to wait for. */
  'start',
  /** A webhook recorded the outcome. The results are not collected yet. */
  'webhook',
  /** The message was delayed until `dueAt`. */
  'due',
  /** The sweep found and claimed the record. */
  'sweep',
  /** The execution is FAILED, TIMED_OUT or ABORTED: it will not start the extraction any more. */
  'execution-broken',
] as const;

export type ReconcileCause = (typeof reconcileCauses)[number];

/** The body of a message in the reconcile queue. It is delivered at least once, in any order, and may be repeated. */
export type ReconcileMessage = {
  readonly extractionId: string;
  readonly cause: ReconcileCause;
  /** Only of `due`: the `dueAt` until which it was delayed. */
  readonly dueAt?: string;
};

/** Puts a message into the queue. Resolves once the queue has it. */
export type SendReconcile = (message: ReconcileMessage, delaySeconds?: number) => Promise<void>;

/** Puts up to ten messages into the queue. Returns those that the queue did not accept. */
export type SendReconcileBatch = (
  messages: readonly ReconcileMessage[],
) => Promise<readonly ReconcileMessage[]>;

/**
 * The longest delay of a message, in seconds: "Valid values: 0 to 900"
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html).
 * What is due later is left to the sweep.
 */
export const longestDelaySeconds = 900;

/** SendMessageBatch takes at most ten messages. */
export const mostPerBatch = 10;

/** Whole seconds from `now` until `dueAt`, at least 0: the delay of its message. */
export const delayUntil = (dueAt: string, now: Date): number =>
  Math.max(0, Math.ceil((new Date(dueAt).getTime() - now.getTime()) / 1000));
