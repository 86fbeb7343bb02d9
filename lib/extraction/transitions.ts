import { plusSeconds, type Timings } from './deadlines.ts';
import { dueShardOf } from './due-shard.ts';
import {
  type ActionResult,
  type Extraction,
  type ExtractionStatus,
  hasWebhook,
  type SettledBy,
  type StoredResults,
  type TerminalStatus,
  terminalStatuses,
} from './record.ts';

/**
 * Every allowed transition of `status` (design, section 3). The changes below take their conditions from this table, so
 * a transition that is not in it cannot be written.
 */
export const transitions = {
  markStarting: { from: ['REQUESTED'], to: ['STARTING'] },
  revertToRequested: { from: ['STARTING'], to: ['REQUESTED'] },
  markRunning: { from: ['STARTING'], to: ['RUNNING'] },
  /** The start was settled as stale before its attempt could write the taskId that it holds. */
  markRunningLate: { from: ['UNCONFIRMED'], to: ['RUNNING'] },
  markRejected: { from: ['STARTING'], to: ['REJECTED'] },
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

/** The condition of a change. All of it must hold for the row when the change is written. */
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
  readonly dueAt?: string;
};

/** The keys of an open record in the index `due`. */
export type DueRecord = { readonly extractionId: string; readonly dueAt: string };

/** One conditional update of one row. */
export type Change = {
  readonly extractionId: string;
  readonly when: Guard;
  readonly set: Partial<Extraction>;
  readonly remove: readonly (keyof Extraction)[];
};

/** A change after which nothing is left to do. The record leaves the index, and its retention starts. */
const closing = (
  record: Extraction,
  when: Guard,
  set: Partial<Extraction>,
  now: Date,
  timings: Timings,
): Change => ({
  extractionId: record.extractionId,
  when,
  set: { ...set, expiresAt: Math.floor(now.getTime() / 1000) + timings.recordRetention },
  // `notBefore` even if this record has none: a read by another process may be postponed meanwhile.
  remove: ['dueShard', 'dueAt', 'notBefore'],
});

const dueOn = (extractionId: string, dueAt: string) => ({
  dueShard: dueShardOf(extractionId),
  dueAt,
});

/** The index attributes of a record in `REQUESTED`: it is due when the start window ends. */
export const dueAtWindowEnd = (extractionId: string, requestedAt: string, timings: Timings) =>
  dueOn(extractionId, plusSeconds(requestedAt, timings.startWindow));

/**
 * The index attributes of a claimed start: it is due once it is stale and the machine had time to retry. If `dueAt` is
 * later already, as it usually is, it stays. Changing it would cost two writes to the index for every extraction
 * (DynamoDB guide, "Using global secondary indexes"), and would only help if machine and rule had both failed.
 */
const dueAfterStartTimeout = (record: Extraction, now: Date, timings: Timings) => {
  const afterTimeout = plusSeconds(now, timings.startTimeout + timings.pollEvery);
  const { dueAt } = record;
  return dueAt !== undefined && dueAt >= afterTimeout ? {} : dueOn(record.extractionId, afterTimeout);
};

/** The `STARTING` write: the last step before the start call. It applies only to the row that it was decided on. */
export const markStarting = (record: Extraction, attemptId: string, now: Date, timings: Timings): Change => ({
  extractionId: record.extractionId,
  when: {
    status: transitions.markStarting.from,
    requestId: record.requestId,
    ...(record.attemptId === undefined ? { withoutAttempt: true } : { attemptId: record.attemptId }),
  },
  set: {
    status: 'STARTING',
    attemptId,
    startingAt: now.toISOString(),
    ...dueAfterStartTimeout(record, now, timings),
  },
  remove: ['notBefore'],
});

/**
 * The provider certainly did not accept the start, so that a retry may start again, but not before `notBefore`.
 * `attemptId` stays. If the SDK sent the `STARTING` write twice, the second copy then fails its condition.
 */
export const revertToRequested = (
  record: Extraction,
  attemptId: string,
  timings: Timings,
  notBefore?: string,
): Change => ({
  extractionId: record.extractionId,
  when: { status: transitions.revertToRequested.from, attemptId },
  set: {
    status: 'REQUESTED',
    ...(notBefore === undefined ? {} : { notBefore }),
    ...dueAtWindowEnd(record.extractionId, record.requestedAt, timings),
  },
  remove: ['startingAt'],
});

const markRunningFrom =
  (from: readonly ExtractionStatus[], dueAtOf: (record: Extraction, now: Date, timings: Timings) => string) =>
  (record: Extraction, attemptId: string, taskId: string, now: Date, timings: Timings): Change => ({
    extractionId: record.extractionId,
    when: { status: from, attemptId },
    set: {
      status: 'RUNNING',
      taskId,
      startedAt: now.toISOString(),
      ...dueOn(record.extractionId, dueAtOf(record, now, timings)),
    },
    remove: ['reason', 'settledAt', 'settledBy', 'expiresAt'],
  });

/**
 * The provider accepted the start as `taskId`. With a webhook, the sweep is not needed before the machine has timed out.
 * Without one, the first poll is due.
 */
export const markRunning = markRunningFrom(transitions.markRunning.from, (record, now, timings) =>
  hasWebhook(record)
    ? plusSeconds(record.deadlineAt, timings.machineSlack)
    : plusSeconds(now, timings.pollFirst),
);

/** The same after `UNCONFIRMED`. The machine has probably ended, so the sweep reconciles soon. */
export const markRunningLate = markRunningFrom(transitions.markRunningLate.from, (_record, now, timings) =>
  plusSeconds(now, timings.pollEvery),
);

/** The provider refused the start: no task exists. Closes. */
export const markRejected = (
  record: Extraction,
  attemptId: string,
  reason: string,
  now: Date,
  timings: Timings,
): Change => {
  const settledAt = now.toISOString();
  const outcome = { status: 'REJECTED', reason, settledAt, settledBy: 'start', isFinal: true } as const;
  return closing(record, { status: transitions.markRejected.from, attemptId }, outcome, now, timings);
};

/** A task may exist, and its id is unknown. No other start call may follow. Closes. */
export const markUnconfirmed = (
  record: Extraction,
  attemptId: string,
  reason: string,
  settledBy: SettledBy,
  now: Date,
  timings: Timings,
): Change => {
  const outcome = { status: 'UNCONFIRMED', reason, settledAt: now.toISOString(), settledBy } as const;
  return closing(record, { status: transitions.markUnconfirmed.from, attemptId }, outcome, now, timings);
};

/** The task is linked to another extraction, so that nothing of it may be used. Closes. */
export const disownTask = (
  record: Extraction,
  taskId: string,
  settledBy: SettledBy,
  now: Date,
  timings: Timings,
): Change => {
  const reason = 'task-linked-elsewhere';
  const outcome = { status: 'UNCONFIRMED', reason, settledAt: now.toISOString(), settledBy } as const;
  return closing(record, { status: transitions.disownTask.from, taskId }, outcome, now, timings);
};

/** No start call reached the provider. Closes. */
export const markNotStarted = (record: Extraction, reason: string, now: Date, timings: Timings): Change => {
  const settledAt = now.toISOString();
  const outcome = {
    status: 'NOT_STARTED',
    reason,
    settledAt,
    settledBy: 'reconcile',
    isFinal: true,
  } as const;
  return closing(record, { status: transitions.markNotStarted.from }, outcome, now, timings);
};

/** The final status that the provider reported for a task. */
export type ReportedOutcome = {
  readonly extractionId: string;
  readonly taskId: string;
  readonly taskStatus: TerminalStatus;
  /** Only of an extraction by consent that failed. */
  readonly reason?: string;
  /** The answer was over the size limit. */
  readonly oversized?: true;
};

const markSettledFrom =
  (from: readonly ExtractionStatus[]) =>
  (
    reported: ReportedOutcome,
    settledBy: SettledBy,
    now: Date,
    timings: Pick<Timings, 'pollEvery'>,
  ): Change => ({
    extractionId: reported.extractionId,
    when: { status: from, taskId: reported.taskId },
    set: {
      status: reported.taskStatus,
      settledAt: now.toISOString(),
      settledBy,
      isFinal: true,
      ...(reported.reason === undefined ? {} : { reason: reported.reason }),
      ...(reported.oversized === undefined ? {} : { oversizedAt: now.toISOString() }),
      // A message asks for the collection at once. If it is lost, the sweep collects from then on.
      ...dueOn(reported.extractionId, plusSeconds(now, timings.pollEvery)),
    },
    // DynamoDB rejects an update that sets and removes one attribute. A `collectionError` of `TIMED_OUT` is obsolete.
    remove: [...(reported.reason === undefined ? (['reason'] as const) : []), 'collectionError', 'expiresAt'],
  });

/** The task has ended. Whoever writes this also collects, or sends a message to the queue. */
export const markSettled = markSettledFrom(transitions.markSettled.from);

/** The same after `TIMED_OUT`. It reopens the record, so that the results are collected. */
export const correctOutcome = markSettledFrom(transitions.correctOutcome.from);

const timedOutAt = (now: Date) =>
  ({
    status: 'TIMED_OUT',
    reason: 'deadline-passed',
    settledAt: now.toISOString(),
    settledBy: 'reconcile',
  }) as const;

/** No final status by the deadline, not even from a last read. Grace starts. */
export const markTimedOut = (record: Extraction, now: Date, timings: Timings): Change => ({
  extractionId: record.extractionId,
  when: { status: transitions.markTimedOut.from },
  set: {
    ...timedOutAt(now),
    ...dueOn(record.extractionId, plusSeconds(now, Math.min(timings.pollEvery, timings.grace))),
  },
  remove: [],
});

/** A read was over the size limit and had no final status. No other read is made. */
export const rememberOversized = ({ extractionId }: Extraction, now: Date): Change => ({
  extractionId,
  when: { status: ['RUNNING'] },
  set: { oversizedAt: now.toISOString() },
  remove: [],
});

const tooLarge = ({ oversizedAt }: Extraction, now: Date) => ({
  collectionError: 'results-too-large',
  oversizedAt: oversizedAt ?? now.toISOString(),
});

/**
 * No final status by the deadline, and no read can return one. Closes without grace; a webhook may still correct it.
 */
export const timeOutOversized = (record: Extraction, now: Date, timings: Timings): Change =>
  closing(
    record,
    { status: transitions.markTimedOut.from },
    { ...timedOutAt(now), ...tooLarge(record, now) },
    now,
    timings,
  );

/** The condition of a close: the status is unchanged, and the results are not collected. */
const unchangedSince = (record: Extraction): Guard => ({ status: [record.status], uncollected: true });

/** The results are stored, or there are none to store. Closes. */
export const closeCollected = (
  record: Extraction,
  found: { readonly results?: StoredResults; readonly actionResults?: readonly ActionResult[] },
  now: Date,
  timings: Timings,
): Change => {
  const set = { ...found, collectedAt: now.toISOString() };
  const close = closing(record, unchangedSince(record), set, now, timings);
  return { ...close, remove: [...close.remove, 'collectionError'] };
};

/** The results could not be collected. Closes, with the reason in the record and on the stream. */
export const closeUncollected = (
  record: Extraction,
  collectionError: string,
  now: Date,
  timings: Timings,
): Change => closing(record, unchangedSince(record), { collectionError }, now, timings);

/** The same for results over the size limit. */
export const abandonOversized = (record: Extraction, now: Date, timings: Timings): Change =>
  closing(record, unchangedSince(record), tooLarge(record, now), now, timings);

/** Grace is over. Closes a `TIMED_OUT`. */
export const closeAfterGrace = (record: Extraction, now: Date, timings: Timings): Change =>
  closing(record, unchangedSince(record), {}, now, timings);

/** The next reconcile is at `dueAt`. Applies only if `dueAt` is unchanged since the decision. */
export const reschedule = (record: Extraction, dueAt: string): Change => ({
  extractionId: record.extractionId,
  when: {
    status: [record.status],
    open: true,
    ...(record.dueAt === undefined ? {} : { dueAt: record.dueAt }),
  },
  set: { dueAt },
  remove: [],
});

/** A sweep's claim. It knows only the keys of the index. Applies only if `dueAt` is still the one that it found. */
export const claimDue = (found: DueRecord, dueAt: string): Change => ({
  extractionId: found.extractionId,
  when: { open: true, dueAt: found.dueAt },
  set: { dueAt },
  remove: [],
});

/** The provider asked, by `Retry-After`, for no other call about this extraction before `notBefore`. */
export const postponeCalls = (
  { extractionId, requestId, status }: Extraction,
  notBefore: string,
): Change => ({
  extractionId,
  when: { status: [status], requestId, open: true },
  set: { notBefore },
  remove: [],
});

/** A read of the task begins. `count`: of the reads in a row that began and were not seen to end, this one included. */
export const beginRead = ({ extractionId, requestId }: Extraction, count: number, now: Date): Change => ({
  extractionId,
  when: { requestId, open: true },
  set: { unfinishedReads: { count, lastBegunAt: now.toISOString() } },
  remove: [],
});

/** A read of the task has ended, and its process has not. */
export const endReads = ({ extractionId, requestId }: Extraction): Change => ({
  extractionId,
  when: { requestId, open: true },
  set: {},
  remove: ['unfinishedReads'],
});
