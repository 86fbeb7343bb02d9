import { openShard } from './open-shard.ts';
import type {
  ActionResult,
  Extraction,
  ExtractionStatus,
  SettledBy,
  StoredResults,
  TerminalStatus,
} from './record.ts';
import { terminalStatuses } from './record.ts';
import { plusSeconds, type Timings } from './timings.ts';

/**
 * Every allowed move of `status` (design, section 3). Condition expressions and the simulation are both made
 * from this table, so a move that is not here cannot be written.
 */
export const moves = {
  begin: { from: ['REQUESTED'], to: ['STARTING'] },
  withdraw: { from: ['STARTING'], to: ['REQUESTED'] },
  run: { from: ['STARTING'], to: ['RUNNING'] },
  /** The attempt that holds the taskId was declared dead before it could write it. */
  runLate: { from: ['UNCONFIRMED'], to: ['RUNNING'] },
  reject: { from: ['STARTING'], to: ['REJECTED'] },
  loseTrack: { from: ['STARTING'], to: ['UNCONFIRMED'] },
  /** The provider answered the start with the task of another extraction: whether one of ours runs is not known. */
  disownTask: { from: ['RUNNING'], to: ['UNCONFIRMED'] },
  giveUpStarting: { from: ['REQUESTED'], to: ['NOT_STARTED'] },
  settle: { from: ['RUNNING'], to: terminalStatuses },
  timeOut: { from: ['RUNNING'], to: ['TIMED_OUT'] },
  /** Late truth: the provider's word replaces ours. */
  correct: { from: ['TIMED_OUT'], to: terminalStatuses },
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
  readonly unattempted?: true;
  readonly taskId?: string;
  /** The row must still be open, i.e. carry `open`. */
  readonly open?: true;
  /** `collectedAt` must be absent. */
  readonly uncollected?: true;
  readonly openUntil?: string;
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
  remove: ['open', 'openUntil'],
});

const openedUntil = (extractionId: string, openUntil: string) => ({
  open: openShard(extractionId),
  openUntil,
});

/** What a record in `REQUESTED` carries besides the request. */
export const requestedUntil = (extractionId: string, requestedAt: string, timings: Timings) =>
  openedUntil(extractionId, plusSeconds(requestedAt, timings.startWindow));

/**
 * The sweep has nothing to do with an attempt before it is dead and the machine's own retries have come by. What
 * stands there is mostly later than that, as the start window is the longer of the two by far; then it stays. To move
 * it would be two writes to the index for every extraction (DynamoDB guide, "Using global secondary indexes": a
 * changed index key is a delete and a put), so that the sweep looks minutes sooner where machine and rule both failed.
 */
const lookedAtAfterDeath = (record: Extraction, now: Date, timings: Timings) => {
  const afterDeath = plusSeconds(now, timings.attemptLife + timings.pollEvery);
  const { openUntil } = record;
  return openUntil !== undefined && openUntil >= afterDeath
    ? {}
    : openedUntil(record.extractionId, afterDeath);
};

/** The write-ahead mark: the last act before the POST leaves. Only on the row that it was decided on. */
export const begin = (record: Extraction, attemptId: string, now: Date, timings: Timings): Change => ({
  extractionId: record.extractionId,
  when: {
    status: moves.begin.from,
    requestId: record.requestId,
    ...(record.attemptId === undefined ? { unattempted: true } : { attemptId: record.attemptId }),
  },
  set: {
    status: 'STARTING',
    attemptId,
    startingAt: now.toISOString(),
    ...lookedAtAfterDeath(record, now, timings),
  },
  remove: [],
});

/**
 * The provider surely did not take it: back to where a retry may begin again. Whose attempt it was stays, so that
 * a mark of it which was sent twice, and comes a second time only now, finds itself overtaken.
 */
export const withdraw = (record: Extraction, attemptId: string, timings: Timings): Change => ({
  extractionId: record.extractionId,
  when: { status: moves.withdraw.from, attemptId },
  set: {
    status: 'REQUESTED',
    ...requestedUntil(record.extractionId, record.requestedAt, timings),
  },
  remove: ['startingAt'],
});

const runFrom =
  (from: readonly ExtractionStatus[], lookAt: (record: Extraction, now: Date, timings: Timings) => string) =>
  (record: Extraction, attemptId: string, taskId: string, now: Date, timings: Timings): Change => ({
    extractionId: record.extractionId,
    when: { status: from, attemptId },
    set: {
      status: 'RUNNING',
      taskId,
      startedAt: now.toISOString(),
      ...openedUntil(record.extractionId, lookAt(record, now, timings)),
    },
    remove: ['reason', 'settledAt', 'settledBy', 'expiresAt'],
  });

/** The provider took it as `taskId`. Until its own end, the machine looks after it. */
export const run = runFrom(moves.run.from, (record, _now, timings) =>
  plusSeconds(record.deadlineAt, timings.machineSlack),
);

/** The same over an `UNCONFIRMED`, with which the machine has most likely ended: so the sweep looks soon. */
export const runLate = runFrom(moves.runLate.from, (_record, now, timings) =>
  plusSeconds(now, timings.pollEvery),
);

/** The provider refused it: nothing ran. */
export const reject = (
  record: Extraction,
  attemptId: string,
  reason: string,
  now: Date,
  timings: Timings,
): Change => {
  const outcome = { status: 'REJECTED', reason, settledAt: now.toISOString(), settledBy: 'start' } as const;
  return closing(record, { status: moves.reject.from, attemptId }, outcome, now, timings);
};

/** A task may exist and we will never know its id from the start call: never POST again. */
export const loseTrack = (
  record: Extraction,
  attemptId: string,
  reason: string,
  settledBy: SettledBy,
  now: Date,
  timings: Timings,
): Change => {
  const outcome = { status: 'UNCONFIRMED', reason, settledAt: now.toISOString(), settledBy } as const;
  return closing(record, { status: moves.loseTrack.from, attemptId }, outcome, now, timings);
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
  return closing(record, { status: moves.disownTask.from, taskId }, outcome, now, timings);
};

/** It never reached the provider. */
export const giveUpStarting = (record: Extraction, reason: string, now: Date, timings: Timings): Change => {
  const settledAt = now.toISOString();
  const outcome = { status: 'NOT_STARTED', reason, settledAt, settledBy: 'reconcile' } as const;
  return closing(record, { status: moves.giveUpStarting.from }, outcome, now, timings);
};

/** How the provider says that a task ended. */
export type SettledFact = {
  readonly extractionId: string;
  readonly taskId: string;
  readonly taskStatus: TerminalStatus;
  /** Only of an extraction by consent that failed. */
  readonly reason?: string;
  /** The answer that said so was over the cap. */
  readonly oversized?: true;
};

const settleFrom =
  (from: readonly ExtractionStatus[]) =>
  (
    fact: SettledFact,
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
      ...openedUntil(fact.extractionId, plusSeconds(now, timings.collectInMachine)),
    },
    // No attribute may be set and removed at once. An error of collecting that stood beside `TIMED_OUT` is of the past.
    remove: [...(fact.reason === undefined ? (['reason'] as const) : []), 'collectionError', 'expiresAt'],
  });

/** The provider's word on how the task ended. */
export const settle = settleFrom(moves.settle.from);

/** The same, come after `TIMED_OUT`: reopens the record, so that the results are collected. */
export const correct = settleFrom(moves.correct.from);

const timedOutAt = (now: Date) =>
  ({
    status: 'TIMED_OUT',
    reason: 'deadline-passed',
    settledAt: now.toISOString(),
    settledBy: 'reconcile',
  }) as const;

/** Past the deadline, and one more read did not tell. */
export const timeOut = (record: Extraction, now: Date, timings: Timings): Change => ({
  extractionId: record.extractionId,
  when: { status: moves.timeOut.from },
  set: {
    ...timedOutAt(now),
    ...openedUntil(record.extractionId, plusSeconds(now, Math.min(timings.pollEvery, timings.grace))),
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
    { status: moves.timeOut.from },
    { ...timedOutAt(now), ...tooLarge(record, now) },
    now,
    timings,
  );

/** What a close is decided on: nobody moved the status, and nobody collected meanwhile. */
const asDecidedOn = (record: Extraction): Guard => ({ status: [record.status], uncollected: true });

/** The results are stored, or there are none to store. Closes. */
export const collected = (
  record: Extraction,
  found: { readonly results?: StoredResults; readonly actionResults?: readonly ActionResult[] },
  now: Date,
  timings: Timings,
): Change => {
  const set = { ...found, collectedAt: now.toISOString() };
  const close = closing(record, asDecidedOn(record), set, now, timings);
  return { ...close, remove: [...close.remove, 'collectionError'] };
};

/** The results could not be had. Closes, and says so on the stream. */
export const giveUpCollecting = (
  record: Extraction,
  collectionError: string,
  now: Date,
  timings: Timings,
): Change => closing(record, asDecidedOn(record), { collectionError }, now, timings);

/** The same of results over the cap, which are never asked for again. */
export const giveUpOversized = (record: Extraction, now: Date, timings: Timings): Change =>
  closing(record, asDecidedOn(record), tooLarge(record, now), now, timings);

/** Grace is over: nothing is left to do for a `TIMED_OUT`. */
export const endGrace = (record: Extraction, now: Date, timings: Timings): Change =>
  closing(record, asDecidedOn(record), {}, now, timings);

/** Has the sweep look at `openUntil`; only if nobody moved that since the decision was made. */
export const lookAgain = (record: Extraction, openUntil: string): Change => ({
  extractionId: record.extractionId,
  when: {
    status: [record.status],
    open: true,
    ...(record.openUntil === undefined ? {} : { openUntil: record.openUntil }),
  },
  set: { openUntil },
  remove: [],
});
