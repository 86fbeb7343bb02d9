import type { ExtractionMetric } from '../observability/metric-names.ts';
import type { Explanation, StartError } from './causes.ts';
import type { Change } from './change.ts';
import type { ReconcileCause } from './reconcile-message.ts';
import type { ActionResult, Extraction, StoredResults, TerminalStatus } from './record.ts';

/** The provider has no task. The start is retried after `notBefore`, unless its error is never retried. */
export type NotAccepted = {
  readonly kind: 'not-accepted';
  readonly error: StartError;
  /** The cause, as a public code. */
  readonly problem: string;
  readonly notBefore: string | undefined;
};

/** What the answer to a start call means. */
export type StartCallResult =
  | { readonly kind: 'accepted'; readonly taskId: string }
  | NotAccepted
  /** A 429 that names neither quota nor user. The start waits in line. */
  | ({ readonly kind: 'over-the-rate' } & Pick<NotAccepted, 'problem' | 'notBefore'>)
  | { readonly kind: 'refused'; readonly reason: string }
  /** A task may exist. */
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * What one read of the provider returned about a task, in the same form for both methods.
 *
 *     v2 task    200, a status that is not final                    running
 *                200, a final status                                ended
 *     consent    202, or of v1 a status in progress                 running
 *                another 2xx with JSON                              ended: COMPLETED; of v1 with an error code FAILED
 *                4xx with `errorType`, unless it is about the poll  ended: FAILED
 *     both       2xx above the size limit                           too-large
 *
 * With any other answer, nothing was read: a 401 after a new token, another 4xx, a 3xx or 5xx, no JSON, or none in time. About the poll are
 * 401, 403, 404, 408, 425 and 429.
 */
export type Reading =
  /** `known` is false if the provider named a status that its API document does not list. */
  | { readonly kind: 'running'; readonly known: boolean }
  /**
   * The answer was over the size limit and was discarded. Only an ended task has results, so the task has ended. `taskStatus` is present if
   * the HTTP status alone implies it.
   */
  | { readonly kind: 'too-large'; readonly taskStatus: TerminalStatus | undefined }
  | {
      readonly kind: 'ended';
      readonly taskStatus: TerminalStatus;
      /** The provider's error code, if the status does not imply the reason. */
      readonly reason: string | undefined;
      /**
       * `none`: such an end has none, as of wrong credentials. `all`: each requested action is there, or for a consent any data. `part`: some
       * are missing, or all, or they have another form.
       */
      readonly results: 'none' | 'part' | 'all';
      readonly actionResults: readonly ActionResult[] | undefined;
      /** Whether the results have the documented form. */
      readonly expected: boolean;
    };

/**
 * The invoker. `start` is the machine's state StartTask. `machine` is its state Reconcile. It invokes when no start can follow, and repeats
 * "not yet" by itself. For all others, the queue or the sweep continues.
 */
export type Invoker =
  /** `requestId` is from the record for which the execution was started. */
  | { readonly kind: 'start'; readonly requestId: string }
  | { readonly kind: 'webhook' }
  /** `lastProblem`: why the last start was not accepted. */
  | { readonly kind: 'machine'; readonly lastProblem?: string }
  | {
      readonly kind: 'queue';
      readonly cause: ReconcileCause;
      readonly dueAt?: string;
      /** The message is of the slow queue. */
      readonly isSlow?: boolean;
    }
  | { readonly kind: 'operator' }
  /** An operator or an erasure ends an extraction that is not started. `problem` becomes its `reason` and `lastProblem`. */
  | { readonly kind: 'cancel'; readonly problem: CancelProblem };

/** Why an extraction was ended before its start: an operator cancelled it, or the data of its user are erased. */
export type CancelProblem = 'cancelled' | 'erased';

/** The end of an invocation for its extraction. */
export type Ending = {
  readonly kind: 'end';
  readonly conclusion: /** Nothing is left to do. */
    | 'closed'
    /** There is no record of this request: it was erased, or its retention is over. */
    | 'gone'
    /** The message is for an earlier `dueAt`. The process that has moved it ahead continues. */
    | 'superseded'
    /** Its start was already claimed, so it continues. */
    | 'not-cancelled'
    /** The webhook will wake the execution. */
    | 'awaits-webhook'
    /** The queue continues, at once or with the message `due` at `dueAt`. If it does not accept the message, the invocation fails. */
    | 'queued'
    /** The queue continues at `dueAt`. If its message fails or is lost, or `dueAt` is too far for one, the sweep finds the record. */
    | 'deferred'
    /** The slow queue continues with the same message. */
    | 'moved'
    /** No message is sent. The machine repeats its state or goes to the next one. For all other invokers, the sweep continues. */
    | 'not-yet';
  readonly explanation: Explanation | undefined;
  /** The error with which start-task fails its state. Undefined for all other invokers, and for an error without a name. */
  readonly error: StartError | undefined;
  /** Why the last start was not accepted, as a public code. */
  readonly problem: string | undefined;
  /** The cause of the message to send. `same`: the message that was received is sent again. */
  readonly message: ReconcileCause | 'same' | 'none';
  readonly counts: readonly ExtractionMetric[];
};

/** How an invocation ended for its extraction. */
export type Result =
  | (Pick<Ending, 'explanation' | 'error' | 'problem'> & {
      readonly conclusion: 'gone';
      readonly record: undefined;
    })
  | (Pick<Ending, 'explanation' | 'error' | 'problem'> & {
      readonly conclusion: Exclude<Ending['conclusion'], 'gone'>;
      readonly record: Extraction;
    });

export const end = (
  conclusion: Ending['conclusion'],
  explanation?: Explanation,
  message: Ending['message'] = 'none',
): Ending => ({
  kind: 'end',
  conclusion,
  explanation,
  error: undefined,
  problem: undefined,
  message,
  counts: [],
});

/** start-task fails its state with `error`. */
export const failStart = (error: StartError, problem?: string): Ending => ({
  ...end('not-yet', error),
  error,
  problem,
});

/** The slow queue continues with the same message. */
export const moveToSlowQueue = (explanation?: Explanation): Ending => end('moved', explanation, 'same');

/**
 * What follows a write: a plan from the record alone, a judgement of what was learned (which holds for any record), or the end. If another
 * process made the write, only that process sends the message.
 */
type Next = 'plan' | Observation | Ending;

/** The next step. `counts` are counted at once, even if a write fails. */
export type Plan = { readonly counts: readonly ExtractionMetric[] } & (
  | { readonly kind: 'start' }
  /** The start window is over. Every step of a start except the call is made, to learn why nothing was started. */
  | { readonly kind: 'check-start' }
  | { readonly kind: 'find-request'; readonly reason: 'start-abandoned' | 'start-window-over' }
  /** Find the item of the task, with the status that a delivery may have left. start-task links the task, and Reconcile adopts one without link. */
  | { readonly kind: 'find-task'; readonly taskId: string }
  | { readonly kind: 'read'; readonly taskId: string }
  /** The time of the status is over. If reads are not paused, the record stores when this read began. */
  | { readonly kind: 'last-read'; readonly taskId: string }
  /**
   * The process of the last read has ended, so no other read is made. But whether reads are paused is checked, because a pause holds the
   * record open.
   */
  | { readonly kind: 'no-read' }
  | { readonly kind: 'store'; readonly reading: EndedReading }
  /**
   * Writes the change. The process that wrote it counts `metricsOnWrite`. `ifWritten` follows once the record has the change, and
   * `ifRefused` if another change came first. With `keepsRequestUntil`, the item of the request is first kept until that time.
   */
  | {
      readonly kind: 'write';
      readonly change: Change;
      readonly metricsOnWrite: readonly ExtractionMetric[];
      readonly keepsRequestUntil?: string;
      readonly ifWritten: Next;
      readonly ifRefused: Next;
    }
  | Ending
);

/** One conditional write of the record, and what follows it. */
export type PlannedWrite = Extract<Plan, { kind: 'write' }>;

/** The provider has ended the task. */
export type EndedReading = Extract<Reading, { kind: 'ended' }>;

/**
 * Why a read brought nothing. `not-now`: reads are held, and `explanation` is the reason. `impossible`: no call can be made, as the item of the
 * request is gone, or the process of the last read ended. A delivery may still come, so the record stays open until the end of its status.
 * `failed`: a read failed, and `problem` is its public code. `explanation` becomes the `collectionError` if no other read follows.
 */
export type Unread =
  | { readonly unread: 'not-now'; readonly explanation: 'reads-paused' | 'not-before' }
  | {
      readonly unread: 'impossible' | 'failed';
      readonly problem: string;
      readonly explanation: Explanation;
    };

/** One thing that was learned. */
export type Observation =
  /** The start ends without a call, or its call was refused and it could not be put in line. */
  | {
      readonly kind: 'not-called';
      readonly error: StartError;
      readonly problem: string | undefined;
      readonly notBefore: string | undefined;
    }
  /** The bank has refused the credentials before, and the user has not confirmed them since. */
  | { readonly kind: 'refused-before' }
  | { readonly kind: 'called'; readonly attemptId: string; readonly result: StartCallResult }
  /** `problem` is why it was not started, if the line shows that. */
  | {
      readonly kind: 'request';
      readonly isThere: boolean;
      readonly reason: string;
      readonly problem?: string;
    }
  /** `isOwn`: the task is linked to this extraction. `isNew`: the invoker has linked it just now, so a final status of it came early. */
  | {
      readonly kind: 'task';
      readonly taskId: string;
      readonly taskStatus: string | undefined;
      readonly isOwn: boolean;
      readonly isNew: boolean;
    }
  | {
      readonly kind: 'read';
      readonly taskId: string;
      readonly reading: Reading;
    }
  | ({ readonly kind: 'unread' } & Unread)
  /** `results` is undefined if they could not be stored. */
  | {
      readonly kind: 'stored';
      readonly reading: EndedReading;
      readonly results: StoredResults | undefined;
    };

/** What an effect has shown, and the record after the writes that the effect made. */
export type Learned = { readonly observed: Observation; readonly record: Extraction };
