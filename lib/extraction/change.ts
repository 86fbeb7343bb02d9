import { type Extraction, type ExtractionStatus, terminalStatuses } from './record.ts';

/**
 * Every allowed transition of `status`. Design, section 3, shows who writes which. A change that writes a status names its transition. This
 * table gives the condition of that change, and its type accepts no other status.
 */
export const allowedTransitions = {
  markStarting: { from: ['REQUESTED'], to: ['STARTING'] },
  revertToRequested: { from: ['STARTING'], to: ['REQUESTED'] },
  markRunning: { from: ['STARTING'], to: ['RUNNING'] },
  /** The start was settled as stale before its attempt could write the taskId. */
  markRunningLate: { from: ['UNCONFIRMED'], to: ['RUNNING'] },
  markRejected: { from: ['STARTING'], to: ['REJECTED'] },
  /** The bank has refused the same credentials before. No call is made. */
  rejectRefused: { from: ['REQUESTED'], to: ['REJECTED'] },
  markUnconfirmed: { from: ['STARTING'], to: ['UNCONFIRMED'] },
  /** The task is another extraction's, or a damaged record names none. It is unknown whether a task of this extraction runs. */
  disownTask: { from: ['RUNNING'], to: ['UNCONFIRMED'] },
  markNotStarted: { from: ['REQUESTED'], to: ['NOT_STARTED'] },
  markSettled: { from: ['RUNNING'], to: terminalStatuses },
  markTimedOut: { from: ['RUNNING'], to: ['TIMED_OUT'] },
  /** A correction: the provider's final status replaces `TIMED_OUT`. */
  correctOutcome: { from: ['TIMED_OUT'], to: terminalStatuses },
} as const satisfies Record<
  string,
  { readonly from: readonly ExtractionStatus[]; readonly to: readonly ExtractionStatus[] }
>;

/** The condition of a change. All of it must hold for the stored record. */
export type Guard = {
  readonly status?: readonly ExtractionStatus[];
  /** The request of the record that the decision was made for. Another record under the same id does not match. */
  readonly requestId?: string;
  /** The attempt that the decision was made for: the process's own, or a stale one. */
  readonly attemptId?: string;
  /** `attemptId` must be absent. */
  readonly withoutAttempt?: true;
  readonly taskId?: string;
  /** `dueShard` must be present: the record is open. A condition without `status` needs this. */
  readonly open?: true;
  /** `collectedAt` must be absent. */
  readonly uncollected?: true;
  /** `erasingAt` must be absent. */
  readonly notErasing?: true;
  readonly dueAt?: string;
};

/** The keys of an open record in the index `due`. */
export type DueRecord = { readonly extractionId: string; readonly dueAt: string };

/** The attributes that no change may touch: two indexes contain most of them, and consumers continue the trace. */
type Fixed =
  | 'extractionId'
  | 'reference'
  | 'batch'
  | 'priority'
  | 'requestedAt'
  | 'requestedBy'
  | 'traceparent';

export type TransitionName = keyof typeof allowedTransitions;

export type Attributes = Partial<Extraction> & { readonly [Name in Fixed]?: never };

/** One conditional update of one record. */
export type Update = {
  readonly extractionId: string;
  readonly when: Guard;
  readonly set: Attributes;
  readonly remove: readonly Exclude<keyof Extraction, Fixed>[];
};

/**
 * What a record shows that refused a change. The SDK repeats an update whose answer was lost, and the repetition then fails its own
 * condition (design, section 3).
 */
export type WriteResult =
  /** This process wrote the change before, and the answer was lost. */
  | 'written'
  /** The record has the same change. Another process wrote it, or the record does not show which process did. */
  | 'equal'
  /** Another change came first. */
  | 'lost';

/** An update that is a transition, or one that writes no status. */
type Move =
  | (Update & { readonly transition: TransitionName })
  | (Update & { readonly transition?: never; readonly set: { readonly status?: never } });

/** An update. `readRefusal` reads from the record that refused it whether the same change succeeded before. */
export type Change = Move & { readonly readRefusal: (refusing: Extraction) => WriteResult };
