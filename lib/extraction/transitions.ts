import { plusSeconds, type Timings } from './deadlines.ts';
import { dueShardOf } from './due-shard.ts';
import {
  type ActionResult,
  type Extraction,
  type ExtractionStatus,
  type SettledBy,
  type StoredResults,
  type TerminalStatus,
  terminalStatuses,
} from './record.ts';

/**
 * Every allowed move of `status` (design, section 3). Condition expressions and the simulation are both made
 * from this table, so a move that is not here cannot be written.
 */
export const transitions = {
  markStarting: { from: ['REQUESTED'], to: ['STARTING'] },
  revertToRequested: { from: ['STARTING'], to: ['REQUESTED'] },
  markRunning: { from: ['STARTING'], to: ['RUNNING'] },
  /** The attempt that holds the taskId was declared dead before it could write it. */
  markRunningLate: { from: ['UNCONFIRMED'], to: ['RUNNING'] },
  markRejected: { from: ['STARTING'], to: ['REJECTED'] },
  markUnconfirmed: { from: ['STARTING'], to: ['UNCONFIRMED'] },
  /** The provider answered the start with the task of another extraction: whether one of ours runs is not known. */
  disownTask: { from: ['RUNNING'], to: ['UNCONFIRMED'] },
  markNotStarted: { from: ['REQUESTED'], to: ['NOT_STARTED'] },
  markSettled: { from: ['RUNNING'], to: terminalStatuses },
  markTimedOut: { from: ['RUNNING'], to: ['TIMED_OUT'] },
  /** A correction: the provider's word replaces ours. */
  correctOutcome: { from: ['TIMED_OUT'], to: terminalStatuses },
} as const satisfies Record<
  string,
  { readonly from: readonly ExtractionStatus[]; readonly to: readonly ExtractionStatus[] }
>;

/** What must hold for a change to be written. All of it, on the row as it is then. */
export type Guard = {
  readonly status: readonly ExtractionStatus[];
  /** The record that the decision was made on, and not one made anew under its id. */
  readonly requestId?: string;
  /** The attempt that the decision was made on: "mine", or the dead one's. */
  readonly attemptId?: string;
  /** `attemptId` must be absent. */
  readonly withoutAttempt?: true;
  readonly taskId?: string;
  /** The row must still be open, i.e. carry `open`. */
  readonly open?: true;
  /** `collectedAt` must be absent. */
  readonly uncollected?: true;
  readonly dueAt?: string;
};

/** One conditional update of one row. */
export type Change = {
  readonly extractionId: string;
  readonly when: Guard;
  readonly set: Partial<Extraction>;
  readonly remove: readonly (keyof Extraction)[];
};

/** A change after which nothing is left to do: the record leaves the index, and its retention begins. */
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
  remove: ['dueShard', 'dueAt'],
});

const dueOn = (extractionId: string, dueAt: string) => ({
  dueShard: dueShardOf(extractionId),
  dueAt,
});

/** What a record in `REQUESTED` carries besides the request. */
export const dueAtWindowEnd = (extractionId: string, requestedAt: string, timings: Timings) =>
  dueOn(extractionId, plusSeconds(requestedAt, timings.startWindow));

/**
 * The sweep has nothing to do with an attempt before it is dead and the machine's own retries have come by. What
 * stands there is mostly later than that, as the start window is the longer of the two by far; then it stays. To move
 * it would be two writes to the index for every extraction (DynamoDB guide, "Using global secondary indexes": a
 * changed index key is a delete and a put), so that the sweep looks minutes sooner where machine and rule both failed.
 */
const dueAfterStartTimeout = (record: Extraction, now: Date, timings: Timings) => {
  const afterDeath = plusSeconds(now, timings.startTimeout + timings.pollEvery);
  const { dueAt } = record;
  return dueAt !== undefined && dueAt >= afterDeath ? {} : dueOn(record.extractionId, afterDeath);
};

/** The `STARTING` write: the last act before the POST leaves. Only on the row that it was decided on. */
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
  remove: [],
});

/**
 * The provider surely did not take it: back to where a retry may begin again. Whose attempt it was stays, so that
 * a mark of it which was sent twice, and comes a second time only now, finds itself overtaken.
 */
export const revertToRequested = (record: Extraction, attemptId: string, timings: Timings): Change => ({
  extractionId: record.extractionId,
  when: { status: transitions.revertToRequested.from, attemptId },
  set: {
    status: 'REQUESTED',
    ...dueAtWindowEnd(record.extractionId, record.requestedAt, timings),
  },
  remove: ['startingAt'],
});

const markRunningFrom =
  (from: readonly ExtractionStatus[], lookAt: (record: Extraction, now: Date, timings: Timings) => string) =>
  (record: Extraction, attemptId: string, taskId: string, now: Date, timings: Timings): Change => ({
    extractionId: record.extractionId,
    when: { status: from, attemptId },
    set: {
      status: 'RUNNING',
      taskId,
      startedAt: now.toISOString(),
      ...dueOn(record.extractionId, lookAt(record, now, timings)),
    },
    remove: ['reason', 'settledAt', 'settledBy', 'expiresAt'],
  });

/** The provider took it as `taskId`. Until its own end, the machine looks after it. */
export const markRunning = markRunningFrom(transitions.markRunning.from, (record, _now, timings) =>
  plusSeconds(record.deadlineAt, timings.machineSlack),
);

/** The same over an `UNCONFIRMED`, with which the machine has most likely ended: so the sweep looks soon. */
export const markRunningLate = markRunningFrom(transitions.markRunningLate.from, (_record, now, timings) =>
  plusSeconds(now, timings.pollEvery),
);

/** The provider refused it: nothing ran. */
export const markRejected = (
  record: Extraction,
  attemptId: string,
  reason: string,
  now: Date,
  timings: Timings,
): Change => {
  const outcome = { status: 'REJECTED', reason, settledAt: now.toISOString(), settledBy: 'start' } as const;
  return closing(record, { status: transitions.markRejected.from, attemptId }, outcome, now, timings);
};

/** A task may exist and we will never know its id from the start call: never POST again. */
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

/** The task that the provider named is linked to another extraction, so nothing of it may be used. Closes. */
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

/** It never reached the provider. */
export const markNotStarted = (record: Extraction, reason: string, now: Date, timings: Timings): Change => {
  const settledAt = now.toISOString();
  const outcome = { status: 'NOT_STARTED', reason, settledAt, settledBy: 'reconcile' } as const;
  return closing(record, { status: transitions.markNotStarted.from }, outcome, now, timings);
};

/** How the provider says that a task ended. */
export type ReportedOutcome = {
  readonly extractionId: string;
  readonly taskId: string;
  readonly taskStatus: TerminalStatus;
  /** Only of an extraction by consent that failed. */
  readonly reason?: string;
  /** The answer that said so was over the cap. */
  readonly oversized?: true;
};

const markSettledFrom =
  (from: readonly ExtractionStatus[]) =>
  (
    fact: ReportedOutcome,
    settledBy: SettledBy,
    now: Date,
    timings: Pick<Timings, 'collectInMachine'>,
  ): Change => ({
    extractionId: fact.extractionId,
    when: { status: from, taskId: fact.taskId },
    set: {
      status: fact.taskStatus,
      settledAt: now.toISOString(),
      settledBy,
      ...(fact.reason === undefined ? {} : { reason: fact.reason }),
      ...(fact.oversized === undefined ? {} : { oversizedAt: now.toISOString() }),
      ...dueOn(fact.extractionId, plusSeconds(now, timings.collectInMachine)),
    },
    // No attribute may be set and removed at once. An error of collecting that stood beside `TIMED_OUT` is of the past.
    remove: [...(fact.reason === undefined ? (['reason'] as const) : []), 'collectionError', 'expiresAt'],
  });

/** The provider's word on how the task ended. */
export const markSettled = markSettledFrom(transitions.markSettled.from);

/** The same, come after `TIMED_OUT`: reopens the record, so that the results are collected. */
export const correctOutcome = markSettledFrom(transitions.correctOutcome.from);

const timedOutAt = (now: Date) =>
  ({
    status: 'TIMED_OUT',
    reason: 'deadline-passed',
    settledAt: now.toISOString(),
    settledBy: 'reconcile',
  }) as const;

/** Past the deadline, and one more read did not tell. */
export const markTimedOut = (record: Extraction, now: Date, timings: Timings): Change => ({
  extractionId: record.extractionId,
  when: { status: transitions.markTimedOut.from },
  set: {
    ...timedOutAt(now),
    ...dueOn(record.extractionId, plusSeconds(now, Math.min(timings.pollEvery, timings.grace))),
  },
  remove: [],
});

/** A read was over the cap and does not say how the task ended. No other is made. */
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

/** Past the deadline, and no read will tell: closed without grace. A webhook may still correct it. */
export const timeOutOversized = (record: Extraction, now: Date, timings: Timings): Change =>
  closing(
    record,
    { status: transitions.markTimedOut.from },
    { ...timedOutAt(now), ...tooLarge(record, now) },
    now,
    timings,
  );

/** What a close is decided on: nobody moved the status, and nobody collected meanwhile. */
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

/** The results could not be had. Closes, and says so on the stream. */
export const closeUncollected = (
  record: Extraction,
  collectionError: string,
  now: Date,
  timings: Timings,
): Change => closing(record, unchangedSince(record), { collectionError }, now, timings);

/** The same of results over the cap, which are never asked for again. */
export const giveUpOversized = (record: Extraction, now: Date, timings: Timings): Change =>
  closing(record, unchangedSince(record), tooLarge(record, now), now, timings);

/** Grace is over: nothing is left to do for a `TIMED_OUT`. */
export const closeAfterGrace = (record: Extraction, now: Date, timings: Timings): Change =>
  closing(record, unchangedSince(record), {}, now, timings);

/** Has the sweep look at `dueAt`; only if nobody moved that since the decision was made. */
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
