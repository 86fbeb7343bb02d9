import { defined } from '../defined.ts';
import { adviceOf } from './advice.ts';
import {
  type Attributes,
  allowedTransitions,
  type Change,
  type DueRecord,
  type Guard,
  type TransitionName,
  type Update,
  type WriteResult,
} from './change.ts';
import { type Timings, windowEnd } from './deadlines.ts';
import * as due from './due.ts';
import type { ActionResult, Extraction, SettledBy, StoredResults, TerminalStatus } from './record.ts';

type Facts = {
  readonly record: Extraction;
  readonly now: Date;
  readonly timings: Timings;
  readonly attemptId: string;
  readonly taskId: string;
  readonly reason: string;
  readonly settledBy: SettledBy;
  readonly dueAt: string;
  readonly notBefore: string;
};
type Decision<More extends keyof Facts = never> = Pick<Facts, 'record' | 'now' | 'timings' | More>;

/** Why the last try brought nothing, as a public code. Undefined if unknown. */
type Problem = { readonly lastProblem?: string | undefined };

/** The update of a transition. */
const moving = <Name extends TransitionName>(
  transition: Name,
  {
    when,
    ...update
  }: Pick<Update, 'extractionId' | 'remove'> & {
    readonly when: Omit<Guard, 'status'>;
    readonly set: Attributes & { readonly status: (typeof allowedTransitions)[Name]['to'][number] };
  },
): Update & { readonly transition: Name } => ({
  ...update,
  transition,
  when: { status: allowedTransitions[transition].from, ...when },
});

/** Attributes that are set if known, and removed otherwise, because an earlier outcome or try may have left an old value. */
const replacing = <Known extends Pick<Attributes, 'advice' | 'lastProblem'>>(
  known: {
    readonly [Name in keyof Known]: Known[Name] | undefined;
  },
) => ({
  set: defined(known) as Pick<Attributes, 'advice' | 'lastProblem'>,
  remove: (Object.keys(known) as ('advice' | 'lastProblem')[]).filter((name) => known[name] === undefined),
});

/** How to read the refusal of a change that only one process can make. */
const ownIf = (has: boolean): WriteResult => (has ? 'written' : 'lost');

/** How to read the refusal of a change that several processes may make. `isByThisProcess`: the record shows that this process made it. */
const equalIf = (has: boolean, { isByThisProcess }: { readonly isByThisProcess: boolean }): WriteResult =>
  has ? (isByThisProcess ? 'written' : 'equal') : 'lost';

/**
 * How to read the refusal of a change of `dueAt`. The record does not show which process wrote it. Two messages would each cause reads, so the change
 * never counts as this process's own.
 */
const movedTo =
  (dueAt: string) =>
  (refusing: Extraction): WriteResult =>
    equalIf(refusing.dueAt === dueAt, { isByThisProcess: false });

/** How to read the refusal of a change whose condition still holds after it. So a repetition is never refused, and a refusal is due to another change. */
const refusedByAnother = (): WriteResult => 'lost';

/**
 * The change that writes an outcome. If two processes write the same outcome, it differs in `settledAt`, in milliseconds, or in
 * `settledBy`.
 */
const settling = (update: Update & { readonly transition: TransitionName }): Change => {
  const { when, set } = update;
  const readRefusal = (refusing: Extraction): WriteResult => {
    if (when.attemptId !== undefined && refusing.attemptId !== when.attemptId) return 'lost';
    // The outcome of another process may not record that the answer was over the size limit.
    if (set.oversizedAt !== undefined && refusing.oversizedAt === undefined) return 'lost';
    return equalIf(refusing.status === set.status, {
      isByThisProcess: refusing.settledAt === set.settledAt && refusing.settledBy === set.settledBy,
    });
  };
  return { ...update, readRefusal };
};

/** What a closing change sets and removes. The record leaves the index, and its retention starts. */
const closing = <Set extends Attributes>({ record, now, timings }: Decision, set: Set) => ({
  extractionId: record.extractionId,
  set: { ...set, expiresAt: Math.floor(now.getTime() / 1000) + timings.recordRetention },
  // `notBefore` is removed even if this record has none, because a read by another process may set it meanwhile.
  remove: ['dueShard', 'dueAt', 'notBefore', 'readsSlowly'] as const,
});

/** The condition that the record has the same request, and the same attempt to start it. */
const sameAttempt = ({ requestId, attemptId }: Extraction): Guard =>
  attemptId === undefined ? { requestId, withoutAttempt: true } : { requestId, attemptId };

/**
 * The `STARTING` write, which is the last step before the start call. Its condition is that request and attempt are unchanged. `deadlineAt`
 * moves if the start has waited in line.
 */
export const markStarting = (
  decision: Decision<'attemptId'> & { readonly deadlineAt?: string | undefined },
): Change => {
  const { record, attemptId, now, timings, deadlineAt } = decision;
  return {
    ...moving('markStarting', {
      extractionId: record.extractionId,
      when: sameAttempt(record),
      set: {
        status: 'STARTING',
        attemptId,
        startingAt: now.toISOString(),
        ...defined({ deadlineAt }),
        ...due.attributes(record.extractionId, due.claimedStart(record, now, timings)),
      },
      remove: ['notBefore'],
    }),
    // Only this process knows its attemptId. If another process has settled the start as stale, this one must not make the start call.
    readRefusal: (refusing) => ownIf(refusing.attemptId === attemptId && refusing.status === 'STARTING'),
  };
};

/**
 * The provider certainly did not accept the start. So a retry may start again, but not before `notBefore`. `attemptId` stays: if the SDK
 * sent the `STARTING` write twice, the second copy then fails its condition.
 */
export const revertToRequested = ({
  record,
  attemptId,
  timings,
  notBefore,
  lastProblem,
}: Omit<Decision<'attemptId'>, 'now'> & Problem & { readonly notBefore: string | undefined }): Change => ({
  ...moving('revertToRequested', {
    extractionId: record.extractionId,
    when: { attemptId },
    set: {
      status: 'REQUESTED',
      ...defined({ notBefore, lastProblem }),
      ...due.attributes(record.extractionId, windowEnd(record.requestedAt, timings)),
    },
    remove: ['startingAt'],
  }),
  readRefusal: (refusing) => ownIf(refusing.status === 'REQUESTED'),
});

const runningFrom =
  (transition: 'markRunning' | 'markRunningLate', dueAtOf: (decision: Decision) => string) =>
  (decision: Decision<'attemptId' | 'taskId'>): Change => {
    const { record, attemptId, taskId, now } = decision;
    return {
      ...moving(transition, {
        extractionId: record.extractionId,
        when: { attemptId },
        set: {
          status: 'RUNNING',
          taskId,
          startedAt: now.toISOString(),
          ...due.attributes(record.extractionId, dueAtOf(decision)),
        },
        remove: ['reason', 'lastProblem', 'advice', 'settledAt', 'settledBy', 'expiresAt'],
      }),
      // Only the attempt that received a taskId writes it. The record may have been settled since.
      readRefusal: (refusing) => ownIf(refusing.taskId === taskId),
    };
  };

/** The provider accepted the start as `taskId`. */
export const markRunning = runningFrom('markRunning', ({ record, now, timings }) =>
  due.startedTask(record, now, timings),
);

/** The same from `UNCONFIRMED`. */
export const markRunningLate = runningFrom('markRunningLate', ({ now, timings }) =>
  due.lateTask(now, timings),
);

/** The transition to one of Cosecha's own outcomes. Closes the record. */
const endOwn = <Name extends TransitionName>(
  transition: Name,
  decision: Decision<'reason' | 'settledBy'> & Problem,
  when: Omit<Guard, 'status'>,
  outcome: { readonly status: (typeof allowedTransitions)[Name]['to'][number]; readonly isFinal?: true },
): Change => {
  const { reason, settledBy, now, lastProblem } = decision;
  const { erasingAt } = decision.record;
  const advice = adviceOf({ status: outcome.status, reason, lastProblem, erasingAt });
  const replaced = replacing({ advice, lastProblem });
  const set = { ...outcome, reason, ...replaced.set, settledAt: now.toISOString(), settledBy };
  const close = closing(decision, set);
  return settling(moving(transition, { when, ...close, remove: [...close.remove, ...replaced.remove] }));
};

export const markRejected = (decision: Decision<'attemptId' | 'reason'>): Change => {
  const { attemptId } = decision;
  const outcome = { status: 'REJECTED', isFinal: true } as const;
  return endOwn('markRejected', { ...decision, settledBy: 'start' }, { attemptId }, outcome);
};

/** The bank has refused the same credentials before, so nothing was sent. */
export const rejectRefused = (decision: Decision): Change => {
  const rejected = { ...decision, reason: 'credentials-refused-before', settledBy: 'start' } as const;
  const outcome = { status: 'REJECTED', isFinal: true } as const;
  return endOwn('rejectRefused', rejected, sameAttempt(decision.record), outcome);
};

/** A task may exist, and its id is unknown. No other start call may follow. */
export const markUnconfirmed = (decision: Decision<'reason' | 'settledBy'>): Change =>
  endOwn('markUnconfirmed', decision, sameAttempt(decision.record), { status: 'UNCONFIRMED' });

/** The task is linked to another extraction, so nothing of it may be used. */
export const disownTask = (decision: Decision<'taskId' | 'settledBy'>): Change => {
  const { taskId } = decision;
  const disowned = { ...decision, reason: 'task-linked-elsewhere' };
  return endOwn('disownTask', disowned, { taskId }, { status: 'UNCONFIRMED' });
};

/** A running record without its task id can never be read. */
export const loseTask = (decision: Decision<'settledBy'>): Change => {
  const lost = { ...decision, reason: 'no-task-id' };
  return endOwn('disownTask', lost, sameAttempt(decision.record), { status: 'UNCONFIRMED' });
};

/** No start call reached the provider. */
export const markNotStarted = (decision: Decision<'reason'> & Problem): Change => {
  const outcome = { status: 'NOT_STARTED', isFinal: true } as const;
  const when = sameAttempt(decision.record);
  return endOwn('markNotStarted', { ...decision, settledBy: 'reconcile' }, when, outcome);
};

/** The final status that the provider reported for a task. */
export type ReportedOutcome = {
  readonly extractionId: string;
  readonly taskId: string;
  readonly taskStatus: TerminalStatus;
  /** Only for a failed extraction by consent. */
  readonly reason: string | undefined;
  /** The answer was over the size limit. */
  readonly isOversized: boolean;
};

const settledFrom =
  (transition: 'markSettled' | 'correctOutcome') =>
  ({
    reported: { extractionId, taskId, taskStatus, reason, isOversized },
    settledBy,
    now,
    timings,
  }: Pick<Facts, 'settledBy' | 'now'> & {
    readonly reported: ReportedOutcome;
    readonly timings: Pick<Timings, 'pollEvery'>;
  }): Change => {
    const advised = replacing({ advice: adviceOf({ status: taskStatus, reason }), lastProblem: undefined });
    return settling(
      moving(transition, {
        extractionId,
        when: { taskId },
        set: {
          status: taskStatus,
          ...advised.set,
          settledAt: now.toISOString(),
          settledBy,
          isFinal: true,
          ...defined({ reason, oversizedAt: isOversized ? now.toISOString() : undefined }),
          ...due.attributes(extractionId, due.results(now, timings)),
        },
        // DynamoDB rejects an update that sets and removes the same attribute. A `collectionError` from `TIMED_OUT` is obsolete.
        remove: [
          ...(reason === undefined ? (['reason'] as const) : []),
          ...advised.remove,
          'collectionError',
          'lastReadBegunAt',
          'expiresAt',
        ],
      }),
    );
  };

/** The task has ended. The process that writes this also collects the results, or sends a message to the queue. */
export const markSettled = settledFrom('markSettled');

/** The same from `TIMED_OUT`. It reopens the record, so that the results are collected. */
export const correctOutcome = settledFrom('correctOutcome');

const timedOutAt = (now: Date) =>
  ({
    status: 'TIMED_OUT',
    reason: 'deadline-passed',
    settledAt: now.toISOString(),
    settledBy: 'reconcile',
  }) as const;

/** The provider reported no final status by the deadline. Grace starts. */
export const markTimedOut = ({ record, now, timings, lastProblem }: Decision & Problem): Change =>
  settling(
    moving('markTimedOut', {
      extractionId: record.extractionId,
      when: { ...sameAttempt(record), open: true },
      set: {
        ...timedOutAt(now),
        ...defined({ lastProblem }),
        advice: 'wait',
        ...due.attributes(record.extractionId, due.correction(now, timings)),
      },
      remove: ['lastReadBegunAt'],
    }),
  );

/** A read was over the size limit and had no final status. The task is not read again. */
export const rememberOversized = ({ record, now }: Pick<Facts, 'record' | 'now'>): Change => ({
  extractionId: record.extractionId,
  when: { status: [record.status], ...sameAttempt(record) },
  set: { oversizedAt: now.toISOString() },
  remove: [],
  readRefusal: refusedByAnother,
});

const tooLarge = ({ record, now }: Decision) => ({
  collectionError: 'results-too-large',
  oversizedAt: record.oversizedAt ?? now.toISOString(),
});

/** There was no final status by the deadline, and no read can return one. Closes without grace. A webhook may still correct it. */
export const timeOutOversized = (decision: Decision): Change => {
  const lastProblem = 'results-too-large';
  const outcome = { ...timedOutAt(decision.now), ...tooLarge(decision), lastProblem };
  const { erasingAt } = decision.record;
  const set = { ...outcome, ...defined({ advice: adviceOf({ ...outcome, erasingAt }) }) };
  const when = sameAttempt(decision.record);
  return settling(moving('markTimedOut', { when, ...closing(decision, set) }));
};

/** The condition of a close: status and attempt are unchanged, the record is open, and no other process has collected the results. */
const unchangedSince = (record: Extraction): Guard => ({
  status: [record.status],
  ...sameAttempt(record),
  open: true,
  ...(record.collectedAt === undefined ? { uncollected: true } : {}),
});

/** Closes without results. If two processes write the same close, it differs in `expiresAt`, in seconds. */
const closeWith = (decision: Decision, set: Attributes & { readonly status?: never }): Change => {
  const advice = adviceOf({ ...decision.record, ...set, dueShard: undefined });
  const advised = { ...set, ...defined({ advice }) };
  const close = { when: unchangedSince(decision.record), ...closing(decision, advised) };
  const isClosedSo = (refusing: Extraction) =>
    set.collectionError === undefined
      ? refusing.dueShard === undefined
      : refusing.collectionError === set.collectionError;
  return {
    ...close,
    readRefusal: (refusing) =>
      equalIf(isClosedSo(refusing), { isByThisProcess: refusing.expiresAt === close.set.expiresAt }),
  };
};

/** The results are stored, or there are none to store. Closes. `lastProblem` is set if a requested part is missing. */
export const closeCollected = (
  decision: Decision &
    Problem & {
      readonly results: StoredResults | undefined;
      readonly actionResults: readonly ActionResult[] | undefined;
    },
): Change => {
  const { record, results, actionResults, now, lastProblem } = decision;
  const collectedAt = now.toISOString();
  const { collectionError: _collectionError, ...ended } = record;
  const advice = adviceOf({ ...ended, ...defined({ actionResults }), collectedAt, lastProblem });
  const replaced = replacing({ lastProblem });
  const known = { ...defined({ results, actionResults, advice }), ...replaced.set };
  const close = closing(decision, { ...known, collectedAt });
  return {
    ...close,
    // If an erasure was requested since, nothing of the results may be published.
    when: { ...unchangedSince(record), notErasing: true },
    remove: [...close.remove, 'collectionError', ...replaced.remove],
    readRefusal: (refusing) =>
      equalIf(refusing.collectedAt !== undefined, { isByThisProcess: refusing.collectedAt === collectedAt }),
  };
};

/** The results could not be collected. Closes, with the reason in the record and on the stream. */
export const closeUncollected = (
  decision: Decision & Problem & { readonly collectionError: string },
): Change => {
  const { collectionError, lastProblem } = decision;
  return closeWith(decision, { collectionError, ...defined({ lastProblem }) });
};

/** The same for results over the size limit. */
export const abandonOversized = (decision: Decision): Change => closeWith(decision, tooLarge(decision));

/** Grace is over. Closes a `TIMED_OUT`. */
export const closeAfterGrace = (decision: Decision & Problem): Change =>
  closeWith(decision, defined({ lastProblem: decision.lastProblem }));

/**
 * The record is to be erased. It must stay until its outcome is recorded and no correction can reopen it. No transition removes the mark.
 */
export const markErasing = ({ record, now }: Pick<Facts, 'record' | 'now'>): Change => {
  const erasingAt = now.toISOString();
  const advice = adviceOf({ ...record, erasingAt });
  return {
    extractionId: record.extractionId,
    when: {
      status: [record.status],
      requestId: record.requestId,
      notErasing: true,
      // The advice was made for an open record, or for a closed one.
      ...(record.dueShard === undefined ? {} : { open: true }),
    },
    set: { erasingAt, ...defined({ advice }) },
    remove: [],
    readRefusal: (refusing) =>
      equalIf(refusing.erasingAt !== undefined, { isByThisProcess: refusing.erasingAt === erasingAt }),
  };
};

/** A process that had read the record before the mark has closed it, so its advice is set now. */
export const adviseErasing = ({ record }: Pick<Facts, 'record'>): Change => ({
  extractionId: record.extractionId,
  when: { status: [record.status], requestId: record.requestId },
  set: { advice: 'none' },
  remove: [],
  readRefusal: (refusing) => equalIf(refusing.advice === 'none', { isByThisProcess: false }),
});

/** Closes a record that is open although nothing is left to do. */
export const closeDone = (decision: Decision): Change => closeWith(decision, {});

/** Moves the next reconcile to `dueAt`. Applies only if `dueAt` is unchanged since the decision. */
export const reschedule = ({
  record,
  dueAt,
  readsSlowly,
  lastProblem,
}: Pick<Facts, 'record' | 'dueAt'> & Problem & { readonly readsSlowly: boolean }): Change => ({
  extractionId: record.extractionId,
  when: { status: [record.status], open: true, ...defined({ dueAt: record.dueAt }) },
  set: { dueAt, ...(readsSlowly ? { readsSlowly } : {}), ...defined({ lastProblem }) },
  remove: readsSlowly ? [] : ['readsSlowly'],
  readRefusal: movedTo(dueAt),
});

/** The lease of a sweep, which knows only the keys of the index. Applies only if `dueAt` is still as found. */
export const leaseDue = ({ found, dueAt }: Pick<Facts, 'dueAt'> & { readonly found: DueRecord }): Change => ({
  extractionId: found.extractionId,
  when: { open: true, dueAt: found.dueAt },
  set: { dueAt },
  remove: [],
  readRefusal: movedTo(dueAt),
});

/** The provider asked by `Retry-After` to wait. No call for this extraction is made before `notBefore`. */
export const postponeCalls = ({
  record: { extractionId, requestId, status },
  notBefore,
  lastProblem,
}: Pick<Facts, 'record' | 'notBefore'> & Problem): Change => ({
  extractionId,
  when: { status: [status], requestId, open: true },
  set: { notBefore, ...defined({ lastProblem }) },
  remove: [],
  readRefusal: refusedByAnother,
});

/** A read or a store failed, or took too long for the reconcile queue. From now on the slow queue reads, for every invoker. */
export const readSlowly = ({ record: { extractionId, requestId } }: Pick<Facts, 'record'>): Change => ({
  extractionId,
  when: { requestId, open: true },
  set: { readsSlowly: true },
  remove: [],
  readRefusal: refusedByAnother,
});

/** The last read of this status begins. If the record already has a time for it, that time stays. */
export const beginLastRead = ({
  record: { extractionId, requestId, status, lastReadBegunAt },
  now,
}: Pick<Facts, 'record' | 'now'>): Change => ({
  extractionId,
  when: { status: [status], requestId, open: true },
  set: { lastReadBegunAt: lastReadBegunAt ?? now.toISOString() },
  remove: [],
  readRefusal: refusedByAnother,
});
