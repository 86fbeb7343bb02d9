import { type Extraction, type ExtractionStatus, terminalStatuses } from './record.ts';

/**
 * Every allowed transition of `status`. Design, section 3, has who writes which. A change that writes a status names its transition: this
 * table gives its condition, and its type accepts no other status.
 */
export const allowedTransitions = {
  markStarting: { from: ['REQUESTED'], to: ['STARTING'] },
  revertToRequested: { from: ['STARTING'], to: ['REQUESTED'] },
  markRunning: { from: ['STARTING'], to: ['RUNNING'] },
  /** The start was settled as stale before its attempt could write the taskId that it holds. */
  markRunningLate: { from: ['UNCONFIRMED'], to: ['RUNNING'] },
  markRejected: { from: ['STARTING'], to: ['REJECTED'] },
  /** The bank has refused the same credentials before. No call is made. */
  rejectRefused: { from: ['REQUESTED'], to: ['REJECTED'] },
  markUnconfirmed: { from: ['STARTING'], to: ['UNCONFIRMED'] },
  /** The provider answered the start with a task of another extraction. Whether an own task runs is unknown. */
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

/** The condition of a change. All of it must hold for the record when the change is written. */
export type Guard = {
  readonly status?: readonly ExtractionStatus[];
  /** Of the record that the decision was made on. Another record under the same id does not qualify. */
  readonly requestId?: string;
  /** The attempt that the decision was made on: the caller's own, or the stale one. */
  readonly attemptId?: string;
  /** `attemptId` must be absent. */
  readonly withoutAttempt?: true;
  readonly taskId?: string;
  /** `dueShard` must be present: the record is open. A condition without `status` needs it. */
  readonly open?: true;
  /** `collectedAt` must be absent. */
  readonly uncollected?: true;
  /** `erasingAt` must be absent. */
  readonly notErasing?: true;
  readonly dueAt?: string;
};

/** The keys of an open record in the index `due`. */
export type DueRecord = { readonly extractionId: string; readonly dueAt: string };

/**
 * Who requested what, when, and how urgently. It never changes: two indexes have most of it, and consumers continue the
 * trace.
 */
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
 * What the record that refused a change shows. The SDK repeats an update whose answer was lost, and the repetition then fails
 * its own condition (design, section 3).
 */
export type Proof =
  /** This process wrote it before, and the answer was lost. */
  | 'written'
  /** The record has the same change. Another process wrote it, or the record does not show which. */
  | 'equal'
  /** Another change came first. */
  | 'lost';

/** An update that is a transition, or that writes no status. */
type Move =
  | (Update & { readonly transition: TransitionName })
  | (Update & { readonly transition?: never; readonly set: { readonly status?: never } });

/** An update, and how the record that refuses it shows whether the same change succeeded before. */
export type Change = Move & { readonly proof: (refusing: Extraction) => Proof };
