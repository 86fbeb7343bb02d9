import * as v from 'valibot';

/**
 * Why a message asks for a reconcile, and who sends it. `due` is the only cause that the record can refute: a message is
 * dropped if another process has moved `dueAt` ahead since.
 */
export const reconcileCauses = [
  /** start-task (`start-for-machine.ts`): the record is open, with nothing for the execution to wait for. */
  'start',
  /** receive-webhook (`record-delivery.ts`): the outcome is recorded. The results are not collected yet. */
  'webhook',
  /** start-task by consent, and reconcile-extraction (`reconcile.ts`): the message was delayed until `dueAt`. */
  'due',
  /** sweep-extractions (`sweep.ts`): it found and leased the record. */
  'sweep',
  /** A rule (`infra/constructs`): the execution FAILED, TIMED_OUT or was ABORTED, and starts nothing any more. */
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
