import type { ExtractionMetric } from '../observability/metric-names.ts';
import type { Explanation, StartError } from './causes.ts';
import type { Change } from './change.ts';
import type { ReconcileCause } from './reconcile-message.ts';
import type { ActionResult, Extraction, StoredResults, TerminalStatus } from './record.ts';

/** The provider has no task. Unless its error is one of those that are never retried, the start is retried, not before `notBefore`. */
export type NotAccepted = {
  readonly kind: 'not-accepted';
  readonly error: StartError;
  /** Why, as one of the public codes. */
  readonly problem: string;
  readonly notBefore: string | undefined;
};

/** What the answer to a start call means. */
export type StartCallResult =
  | { readonly kind: 'accepted'; readonly taskId: string }
  | NotAccepted
  | { readonly kind: 'refused'; readonly reason: string }
  /** A task may exist. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** What one read of the provider returned about a task, in the same form for both methods. */
export type Reading =
  /** `known` is false if the provider named a status that its API document does not list. */
  | { readonly kind: 'running'; readonly known: boolean }
  /**
   * The answer was over the size limit and was discarded. Only an ended task has results, so the task has ended.
   * `taskStatus`: if the HTTP status alone implies it.
   */
  | { readonly kind: 'too-large'; readonly taskStatus: TerminalStatus | undefined }
  | {
      readonly kind: 'ended';
      readonly taskStatus: TerminalStatus;
      /** The provider's error code, if the status does not imply the reason. */
      readonly reason: string | undefined;
      /** Whether there is anything to store. */
      readonly hasResults: boolean;
      /** Whether the results are complete: each requested action is there, or by consent anything. */
      readonly isComplete: boolean;
      readonly actionResults: readonly ActionResult[] | undefined;
      /** Whether the results have the documented form. */
      readonly expected: boolean;
    };

/**
 * Who asks. `start` is the machine's state StartTask. `machine` is its state Reconcile, which asks once no start is left to wait for
 * or to retry, and repeats "not yet" by itself. For all others, the queue continues, or the sweep.
 */
export type Invoker =
  /** `requestId`: of the record that the execution was started for. */
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
  /** Ends what has not been started, and nothing else. `problem`: why, as its `reason` and `lastProblem`. */
  | { readonly kind: 'cancel'; readonly problem: CancelProblem };

/** Why an extraction was ended before its start: an operator cancelled it, or its person is erased. */
export type CancelProblem = 'cancelled' | 'erased';

/** Nothing else is done now: how an invocation ends for its extraction. */
export type Ending = {
  readonly kind: 'end';
  readonly conclusion: /** Nothing is left to do. */
    | 'closed'
    /** There is no record: it was erased, or its retention is over. */
    | 'gone'
    /** The message is for an earlier `dueAt`. The process that has moved it ahead continues. */
    | 'superseded'
    /** Its start had been claimed, so it goes on as it was. */
    | 'not-cancelled'
    /** The webhook will wake the execution. */
    | 'awaits-webhook'
    /** The queue continues, and has to accept the message. */
    | 'queued'
    /** The same at `dueAt`. Without a message, the sweep finds the record then. */
    | 'deferred'
    /** The slow queue continues with the same message. */
    | 'moved'
    /** Nothing is sent. The machine repeats the state, or goes on to the next one; the sweep continues for all others. */
    | 'not-yet';
  readonly explanation: Explanation | undefined;
  /** The error by which start-task fails its state. Undefined for all others, and for what it cannot name. */
  readonly error: StartError | undefined;
  /** Why the last start was not accepted, as a public code. */
  readonly problem: string | undefined;
  /** The cause of the message to send. `same`: that of the message received. */
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
 * What follows a write: a plan from the record alone, a judgement of what was learned, which stays true on any record, or the end. If
 * another process made the write, this one sends no message, because that process sends it.
 */
type Next = 'plan' | Observation | Ending;

/**
 * What follows. `counts` are counted at once, also if a write fails.
 */
export type Plan = { readonly counts: readonly ExtractionMetric[] } & (
  | { readonly kind: 'start' }
  /** The start window is over. All of a start is done but the call, to learn why nothing was started. */
  | { readonly kind: 'check-start' }
  | { readonly kind: 'find-request'; readonly reason: 'start-abandoned' | 'start-window-over' }
  /** Find the item of the task, with the status that a delivery may have left. */
  | { readonly kind: 'find-task'; readonly taskId: string }
  | { readonly kind: 'read'; readonly taskId: string }
  /** The time of the status is over. Once reads are not paused, the record keeps when this read began. */
  | { readonly kind: 'last-read'; readonly taskId: string }
  /** The last read ended its process, so none is made. Whether an operator paused reads is found out, as a pause holds the record open. */
  | { readonly kind: 'no-read' }
  | { readonly kind: 'store'; readonly reading: EndedReading }
  /**
   * `metricsOnWrite`: counted by the process that wrote the change. `ifWritten` follows once the record has it, and `ifRefused` if another change
   * came first. `keepsRequestUntil`: before the write, the item of the request is kept for the reconcile at this time.
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
 * How a read brought nothing. `not-now`: none may be made now, and `error` says who holds it.
 * `impossible`: none can be made any more. `failed`: it was made. `problem`: what that shows, as a public code. `error`: the
 * `collectionError` if no other read follows.
 */
export type Unread =
  | { readonly unread: 'not-now'; readonly error: 'reads-paused' | 'not-before' }
  | {
      readonly unread: 'impossible' | 'failed';
      readonly problem: string;
      readonly error: Explanation;
    };

/** One thing that was learned. */
export type Observation =
  /** No start call was made. */
  | {
      readonly kind: 'not-called';
      readonly error: StartError;
      readonly problem: string | undefined;
      readonly notBefore: string | undefined;
    }
  /** The bank has refused the credentials before, and the user has not confirmed them since. */
  | { readonly kind: 'refused-before' }
  | { readonly kind: 'called'; readonly attemptId: string; readonly result: StartCallResult }
  /** `problem`: why it has not been started, if the line shows it. */
  | {
      readonly kind: 'request';
      readonly isThere: boolean;
      readonly reason: string;
      readonly problem?: string;
    }
  /** `isOwn`: it is linked to this extraction. `isNew`: by this process. */
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

/** What an effect has shown, and the record as it is after what was kept in it meanwhile. */
export type Learned = { readonly observed: Observation; readonly record: Extraction };
