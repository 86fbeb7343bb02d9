import type { ExtractionMetric } from '../observability/metric-names.ts';
import { codes } from './advice.ts';
import {
  delayUntil,
  isReadTimeOver,
  isStartStale,
  lagEnd,
  maxDelaySeconds,
  plusSeconds,
  type Timings,
} from './deadlines.ts';
import * as due from './due.ts';
import { type Collecting, type Grace, type Phase, phaseOf, type Readable, type Running } from './phase.ts';
import {
  type Ended,
  type Ending,
  end,
  type Invoker,
  moveToSlowQueue,
  type Plan,
  type Seen,
  type Unread,
  type Why,
} from './plan.ts';
import {
  type Extraction,
  hasTaskItem,
  hasWebhook,
  isRequestDone,
  isTerminalStatus,
  isUnderstood,
  type SettledBy,
  type StoredResults,
} from './record.ts';
import * as change from './transitions.ts';

/**
 * What follows for an extraction, for every record and everybody who asks (design, section 3). Nothing here has an effect, and
 * the time is given. Intake, the sweep's lease, erase and restore write by themselves, a start writes `STARTING` as part of its
 * order, and a read keeps when the last one began, until when the provider asked to wait, and that it was slow.
 */

/** What a decision is made with. */
type At<In extends Phase = Phase> = {
  readonly record: In;
  readonly who: Invoker;
  readonly now: Date;
  readonly timings: Timings;
};

const isIn = <Name extends Phase['phase']>(
  at: At,
  ...names: readonly Name[]
): at is At<Extract<Phase, { readonly phase: Name }>> => names.some((name) => name === at.record.phase);

type Follows = Partial<Pick<Extract<Plan, { kind: 'write' }>, 'ifWritten' | 'ifRefused'>>;

const toWrite = (
  written: change.Change,
  once: readonly ExtractionMetric[] = [],
  { ifWritten = 'plan', ifRefused = 'plan' }: Follows = {},
): Plan => ({ kind: 'write', change: written, once, ifWritten, ifRefused, counts: [] });

const counting = (metric: ExtractionMetric, planned: Plan): Plan => ({
  ...planned,
  counts: [metric, ...planned.counts],
});

/**
 * Whether reads and stores are brief. The consumers of the reconcile queue are shared by all extractions, so a call that hangs must
 * not hold one for long. The slow queue has consumers of its own.
 */
export const isBriefFor = (who: Invoker): boolean => who.kind === 'queue' && who.isSlow !== true;

const settledBy = ({ kind }: Invoker): SettledBy =>
  kind === 'start' || kind === 'webhook' ? kind : 'reconcile';

/* Waiting */

/**
 * What is waited for. `unread`: the read brought nothing. `problem`: what a failed read showed, as a public code. `readsSlowly`: the read
 * that was made failed, or the store after it; absent if none was made.
 */
type Waiting = {
  readonly why: Why;
  readonly unread?: Unread;
  readonly problem?: string | undefined;
  readonly readsSlowly?: boolean;
};

/** The public code of what is waited for. Undefined if it shows nothing about the last try. */
const problemIn = ({ why, problem }: Waiting): string | undefined =>
  problem ?? (Object.hasOwn(codes, why) ? why : undefined);

/** Counted by the process that writes what follows from it. */
const lostData = (why: Why): readonly ExtractionMetric[] =>
  why === 'request-data-gone' ? ['RequestDataGone'] : [];

/** `readsSlowly` is kept if no read was made. */
const toDefer = (record: Extraction, dueAt: string, waiting: Waiting): Plan =>
  // A message, or the sweep, comes at this time already.
  record.dueAt === dueAt
    ? end('deferred', waiting.why)
    : {
        kind: 'defer',
        dueAt,
        why: waiting.why,
        problem: problemIn(waiting),
        readsSlowly: waiting.readsSlowly ?? record.readsSlowly === true,
        once: lostData(waiting.why),
        counts: [],
      };

/**
 * Nothing can be decided about a running task now. The machine retries by itself, at the price of a transition for each retry. So a task by
 * consent, or without webhooks, which is polled from its start on, is polled by the queue. Polls of a running task follow at growing intervals.
 */
const notYet = ({ record, who, now, timings }: At<Running>, waiting: Waiting): Plan => {
  if (who.kind === 'machine' && hasWebhook(record)) return end('not-yet', waiting.why);
  return toDefer(record, due.nextPoll(record, now, timings), waiting);
};

/* Reads */

/**
 * Whether the time of the status is over, so that a read decides, whatever it brings. Asked when it is judged: one that began before
 * saw the task at most one timeout of the function before the end.
 */
const isTimeOver = ({ record, now, timings }: At<Readable>): boolean => isReadTimeOver(record, now, timings);

/** Whether the last read ended its process. Lambda ends a process at the timeout of its function. */
const isLastReadLost = ({ record: { lastReadBegunAt }, now, timings }: At<Readable>): boolean =>
  lastReadBegunAt !== undefined && now.toISOString() > plusSeconds(lastReadBegunAt, timings.reconcileTimeout);

/**
 * A process that ends during a read, for example because it runs out of memory, cannot report it, and its message or the sweep reads
 * again. Once the time of the status is over, this must not keep the record open. So the record keeps when the last read began, and
 * goes on unread if that process has ended. The last read has its whole time, as a brief one that fails decides nothing.
 */
const toRead = (at: At<Readable>): Plan => {
  const { record, who, now } = at;
  const { taskId } = record;
  const isOver = isTimeOver(at);
  if (isBriefFor(who) && (isOver || record.readsSlowly === true)) return moveToSlowQueue();
  // The provider asked for no call before `notBefore`. The read before a close is made all the same: it has no later time.
  const mayWait = !isOver || record.phase === 'running';
  if (mayWait && record.notBefore !== undefined && now.toISOString() < record.notBefore)
    return goOn(at, { why: 'ProviderPaused', unread: 'held' });
  if (!isOver) return { kind: 'read', taskId, counts: [] };
  return isLastReadLost(at) ? { kind: 'no-read', counts: [] } : { kind: 'last-read', taskId, counts: [] };
};

/* Start */

const isWindowOver = ({ record, now, timings }: At): boolean =>
  now.toISOString() >= plusSeconds(record.requestedAt, timings.startWindow);

const beforeStart = (at: At): Plan => {
  const { notBefore, lastProblem } = at.record;
  if (isWindowOver(at)) return { kind: 'check-start', counts: [] };
  return notBefore !== undefined && at.now.toISOString() < notBefore
    ? { ...end('not-yet', 'ProviderBusy'), problem: lastProblem }
    : { kind: 'start', counts: [] };
};

const staleStart = (at: At): Plan =>
  toWrite(change.markUnconfirmed({ ...at, reason: 'start-interrupted', settledBy: settledBy(at.who) }), [
    'Unconfirmed',
  ]);

/** For the machine's state StartTask. */
const planStart = (at: At, requestId: string): Plan => {
  const { record, now, timings } = at;
  // After an erasure or a loss, a repeated idempotency key creates another record under the same id.
  if (record.requestId !== requestId) return end('gone');
  if (isIn(at, 'requested')) return beforeStart(at);
  if (isIn(at, 'starting'))
    return isStartStale(record, now, timings) ? staleStart(at) : end('not-yet', 'StartInProgress');
  if (!isIn(at, 'running')) return atRest(at, 'start');
  return hasTaskItem(record)
    ? { kind: 'find-task', taskId: at.record.taskId, counts: [] }
    : end('queued', undefined, 'due');
};

/** What is left of an open record is the queue's. */
const atRest = (at: At, cause: 'start' | 'webhook'): Ending =>
  isIn(at, 'closed') ? end('closed') : end('queued', undefined, cause);

const afterNoCall = (at: At, seen: Extract<Seen, { kind: 'not-called' }>): Plan | undefined => {
  const { record } = at;
  if (!isIn(at, 'requested')) return undefined;
  const { notBefore, problem } = seen;
  if (isWindowOver(at)) {
    // Reconcile then writes NOT_STARTED. The machine invokes it and passes the problem on. Without a problem, the queue invokes it.
    return problem === undefined
      ? end('queued', undefined, 'start')
      : { ...end('not-yet', 'StartWindowOver'), problem };
  }
  const retry = { ...end('not-yet', seen.why), problem };
  const postponed = { record, notBefore: notBefore ?? '', lastProblem: problem };
  return notBefore === undefined ? retry : toWrite(change.postponeCalls(postponed), [], { ifWritten: retry });
};

const afterCall = (at: At, seen: Extract<Seen, { kind: 'called' }>): Plan | undefined => {
  const { result, attemptId } = seen;
  if (at.record.attemptId !== attemptId) return undefined;
  const decision = { ...at, attemptId };
  if (at.record.status === 'UNCONFIRMED' && result.kind === 'accepted') {
    return toWrite(change.markRunningLate({ ...decision, taskId: result.taskId }));
  }
  if (!isIn(at, 'starting')) return undefined;
  switch (result.kind) {
    case 'accepted':
      // If another process has settled the start as stale, the task id may still be written.
      return toWrite(change.markRunning({ ...decision, taskId: result.taskId }), [], { ifRefused: seen });
    case 'not-accepted':
      return toWrite(
        change.revertToRequested({ ...decision, notBefore: result.notBefore, lastProblem: result.problem }),
        [],
        { ifWritten: { ...end('not-yet', result.error), problem: result.problem } },
      );
    case 'refused':
      return toWrite(change.markRejected({ ...decision, reason: result.reason }), ['Rejected']);
    case 'unknown':
      return toWrite(change.markUnconfirmed({ ...decision, reason: result.reason, settledBy: 'start' }), [
        'Unconfirmed',
      ]);
  }
};

/* Reconcile */

const settledMetric = {
  webhook: 'SettledByWebhook',
  start: 'SettledByStart',
  reconcile: 'SettledByReconcile',
} as const satisfies Record<SettledBy, ExtractionMetric>;

/** The provider reported the final status. After `TIMED_OUT` this is a correction, which replaces the outcome. */
const settle = (
  at: At,
  reported: Omit<change.ReportedOutcome, 'extractionId'>,
  also: readonly ExtractionMetric[],
  seen: Extract<Seen, { kind: 'read' | 'task' }>,
): Plan => {
  const { extractionId, status } = at.record;
  const follows = { ifWritten: seen, ifRefused: seen };
  const by = settledBy(at.who);
  const decision = { ...at, reported: { extractionId, ...reported }, settledBy: by };
  const once = [settledMetric[by], ...also];
  return status === 'RUNNING'
    ? toWrite(change.markSettled(decision), once, follows)
    : toWrite(change.correctOutcome(decision), [...once, 'Corrected'], follows);
};

/** The final status of the task becomes the outcome, or replaces `TIMED_OUT`, even if the record is closed. */
const mayTakeStatus = ({ status }: Extraction): boolean => status === 'RUNNING' || status === 'TIMED_OUT';

const disown = (at: At<Running | Grace>, taskId: string): Plan =>
  // Counted before the write: this may be a leak, so the alarm must not depend on whether the write succeeds.
  counting(
    'TaskLinkedElsewhere',
    at.record.phase === 'running'
      ? toWrite(change.disownTask({ ...at, taskId, settledBy: settledBy(at.who) }), ['Unconfirmed'])
      : toWrite(change.closeUncollected({ ...at, collectionError: 'task-linked-elsewhere' })),
  );

/**
 * The answer was over the size limit, so its results are abandoned. A v2 task that still runs by its record waits for the webhook
 * until the deadline, because a read cannot return its status.
 */
const planOversized = (at: At<Readable>, seen: Extract<Seen, { kind: 'read' }> | 'plan'): Plan => {
  const follows = { ifWritten: seen, ifRefused: seen };
  if (!isIn(at, 'running')) {
    return toWrite(change.abandonOversized(at), ['CollectionAbandoned'], follows);
  }
  if (isTimeOver(at)) {
    return toWrite(change.timeOutOversized(at), ['TimedOut', 'CollectionAbandoned'], follows);
  }
  return at.record.oversizedAt === undefined
    ? toWrite(change.rememberOversized(at), [], follows)
    : notYet(at, { why: 'results-too-large' });
};

/** No final status was learned. */
const waitForFinalStatus = (at: At<Running | Grace>, waiting: Waiting): Plan => {
  const { record, now } = at;
  const { why, unread } = waiting;
  if (record.phase === 'running') {
    if (!isTimeOver(at)) return notYet({ ...at, record }, waiting);
    // `lastProblem` of the record is from a read by the queue. A read by the machine leaves none. Without a webhook only the queue
    // reads, and each of its reads without a final status leaves one. So without a problem there was no read.
    const neverRead = hasWebhook(record) ? undefined : 'never-read';
    const lastProblem = problemIn(waiting) ?? record.lastProblem ?? neverRead;
    // The next read is the first in grace, and due later, so that it does not repeat the read just made.
    return toWrite(change.markTimedOut({ ...at, lastProblem }), ['TimedOut', ...lostData(why)], {
      ifWritten: end('deferred', why, 'due'),
    });
  }
  // Nothing is given up while reads are held.
  if (!isTimeOver(at) || unread === 'held')
    return toDefer(record, due.correctionAgain(record, now, at.timings), waiting);
  return unread === 'impossible'
    ? abandon(at, waiting)
    : toWrite(change.closeAfterGrace({ ...at, lastProblem: problemIn(waiting) }));
};

const abandon = (at: At<Readable>, waiting: Waiting): Plan => {
  const { why: collectionError } = waiting;
  return toWrite(change.closeUncollected({ ...at, collectionError, lastProblem: problemIn(waiting) }), [
    'CollectionAbandoned',
    ...lostData(collectionError),
  ]);
};

/** After a failed collection: tried again at growing intervals, by the queue, then by the sweep. Abandoned after the last read. */
const retryCollection = (at: At<Collecting>, waiting: Waiting): Plan => {
  const { record, now, timings } = at;
  const { why, unread } = waiting;
  if (isTimeOver(at) && unread !== 'held') return counting('CollectionFailed', abandon(at, waiting));
  const dueAfter = why === 'results-incomplete' ? due.restOfResults : due.resultsAgain;
  const dueAt = dueAfter(record, now, timings);
  const deferred = toDefer(record, dueAt, waiting);
  const planned =
    delayUntil(dueAt, now) > maxDelaySeconds ? counting('CollectionDeferred', deferred) : deferred;
  return unread === 'held' ? planned : counting('CollectionFailed', planned);
};

const goOn = ({ record, ...at }: At<Readable>, waiting: Waiting): Plan =>
  record.phase === 'collecting'
    ? retryCollection({ ...at, record }, waiting)
    : waitForFinalStatus({ ...at, record }, waiting);

/**
 * A brief read that fails decides nothing: the slow queue makes it again, with the whole timeout. Any other read that fails counts
 * as one without an answer, even if it failed on our side, because it must not keep a record open beyond its deadline.
 */
const afterNoRead = (
  at: At,
  { unread, why, problem }: Extract<Seen, { kind: 'unread' }>,
): Plan | undefined => {
  const isBrief = unread === 'failed' && isBriefFor(at.who);
  if (isBrief) return moveToSlowQueue(why);
  if (!isIn(at, 'running', 'grace', 'collecting')) return undefined;
  return unread === 'failed'
    ? counting('ProviderReadFailed', goOn(at, { why, unread, problem, readsSlowly: true }))
    : goOn(at, { why, unread });
};

/** Whether the document shows results for the outcome: not with wrong or locked credentials, nor with a failure by consent. */
const impliesResults = ({ method, status }: Extraction): boolean =>
  status === 'COMPLETED' || status === 'PARTIAL' || (status === 'FAILED' && method === 'credentials');

/** Whether the results lack a part of what was requested. The provider may report the end of a task before it shows its results. */
const lacksResults = (record: Extraction, { isComplete }: Ended): boolean =>
  impliesResults(record) && !isComplete;

const closeCollected = (at: At<Collecting>, reading: Ended, results: StoredResults | undefined): Plan => {
  const { actionResults } = reading;
  const once: readonly ExtractionMetric[] = ['Collected'];
  return results !== undefined && lacksResults(at.record, reading)
    ? toWrite(change.closeCollected({ ...at, results, actionResults, lastProblem: 'results-incomplete' }), [
        ...once,
        'ResultsIncomplete',
      ])
    : toWrite(change.closeCollected({ ...at, results, actionResults }), once);
};

/** Stores the results of an extraction that has ended, and closes the record. */
const collect = (at: At<Collecting>, seen: Extract<Seen, { kind: 'read' }>): Plan => {
  const { record } = at;
  const { reading } = seen;
  if (reading.kind === 'too-large') return planOversized(at, seen);
  if (reading.kind === 'running') {
    return retryCollection(at, { why: 'still-running', readsSlowly: false });
  }
  // If the outcome implies results, a read without them is a passing error of the provider.
  if (!reading.hasResults && (record.status === 'COMPLETED' || record.status === 'PARTIAL')) {
    return retryCollection(at, { why: 'no-results', readsSlowly: false });
  }
  if (lacksResults(record, reading) && at.now.toISOString() < lagEnd(record, at.timings)) {
    return retryCollection(at, { why: 'results-incomplete', readsSlowly: false });
  }
  const stored: Plan = reading.hasResults
    ? { kind: 'store', reading, counts: [] }
    : closeCollected(at, reading, undefined);
  const expected = reading.expected ? stored : counting('UnexpectedResults', stored);
  return reading.taskStatus === record.status ? expected : counting('StatusDisagreement', expected);
};

const afterRead = (at: At, seen: Extract<Seen, { kind: 'read' }>): Plan | undefined => {
  const { record } = at;
  const { taskId, reading } = seen;
  if (record.taskId !== taskId) return undefined;
  if (isIn(at, 'collecting')) return collect(at, seen);
  if (reading.kind !== 'running' && reading.taskStatus !== undefined && mayTakeStatus(record)) {
    const { taskStatus } = reading;
    const reason = reading.kind === 'ended' ? reading.reason : undefined;
    const reported = { taskId, taskStatus, reason, isOversized: reading.kind === 'too-large' };
    // Deliveries settle while the execution polls, too. A read is first only if all five deliveries were lost, or in the
    // moment between the end of a task and its first delivery.
    return settle(at, reported, hasWebhook(record) ? ['WebhookMissed'] : [], seen);
  }
  if (!isIn(at, 'running', 'grace')) return undefined;
  if (reading.kind !== 'running') return planOversized(at, seen);
  const waiting = waitForFinalStatus(at, { why: 'still-running', readsSlowly: false });
  return reading.known ? waiting : counting('UnknownTaskStatus', waiting);
};

/** The status that a webhook left in `Tasks` is as good as one that was read. */
const afterTask = (at: At, seen: Extract<Seen, { kind: 'task' }>): Plan | undefined => {
  const { record, who } = at;
  const { taskId, taskStatus, isNew } = seen;
  if (record.taskId !== taskId) return undefined;
  if (!seen.isOwn) return isIn(at, 'running', 'grace') ? disown(at, taskId) : undefined;
  if (taskStatus !== undefined && isTerminalStatus(taskStatus)) {
    if (mayTakeStatus(record)) {
      // The delivery came before this process linked the task, or found it linked.
      const isEarly = isNew || who.kind === 'start';
      const reported = { taskId, taskStatus, reason: undefined, isOversized: false };
      return settle(at, reported, isEarly ? ['EarlyDelivery'] : [], seen);
    }
    const disagrees = isTerminalStatus(record.status) && record.status !== taskStatus;
    return disagrees ? counting('StatusDisagreement', planOf(at)) : undefined;
  }
  if (!isIn(at, 'running', 'grace')) return undefined;
  if (who.kind === 'start') return hasWebhook(record) ? end('waiting') : end('queued', undefined, 'due');
  return record.oversizedAt === undefined ? toRead(at) : planOversized(at, 'plan');
};

const judgeOf = (at: At, seen: Seen): Plan | undefined => {
  switch (seen.kind) {
    case 'not-called':
      return afterNoCall(at, seen);
    case 'refused-before':
      return isIn(at, 'requested') ? toWrite(change.rejectRefused(at), ['Rejected']) : undefined;
    case 'called':
      return afterCall(at, seen);
    case 'request': {
      if (!isIn(at, 'requested')) return undefined;
      const reason = seen.isThere ? seen.reason : 'request-data-gone';
      const { lastProblem = at.record.lastProblem } = at.who.kind === 'machine' ? at.who : {};
      return toWrite(change.markNotStarted({ ...at, reason, lastProblem }), ['NotStarted']);
    }
    case 'task':
      return afterTask(at, seen);
    case 'read':
      return afterRead(at, seen);
    case 'unread':
      return afterNoRead(at, seen);
    case 'stored': {
      const { reading, results } = seen;
      if (!isIn(at, 'collecting')) return undefined;
      if (results !== undefined) return closeCollected(at, reading, results);
      // As after a read: one that failed briefly decides nothing.
      return isBriefFor(at.who)
        ? moveToSlowQueue('results-not-stored')
        : retryCollection(at, { why: 'results-not-stored', readsSlowly: true });
    }
  }
};

const planRequested = (at: At): Plan => {
  const { who } = at;
  const isAbandoned = who.kind === 'machine' || (who.kind === 'queue' && who.cause === 'execution-broken');
  if (isWindowOver(at)) return { kind: 'find-request', reason: 'start-window-over', counts: [] };
  return isAbandoned
    ? { kind: 'find-request', reason: 'start-abandoned', counts: [] }
    : toDefer(at.record, due.start(at.record.requestedAt, at.timings), { why: 'not-started-yet' });
};

/** Looks for an outcome, or for the results of one. */
const planRead = (at: At<Readable>): Plan => {
  const { record } = at;
  if (record.phase !== 'collecting' && hasTaskItem(record))
    return { kind: 'find-task', taskId: record.taskId, counts: [] };
  return record.oversizedAt === undefined ? toRead(at) : planOversized(at, 'plan');
};

/** A newer version wrote it, before a rollback. Only what start-task and the webhook alone know is still written. */
const isForeign = ({ record, who }: At): boolean =>
  who.kind !== 'start' && who.kind !== 'webhook' && record.dueShard !== undefined && !isUnderstood(record);

/** Another process may make the start call. */
const startInProgress = ({ record, who, now, timings }: At): Plan =>
  who.kind === 'machine'
    ? end('not-yet', 'start-in-progress')
    : toDefer(record, due.startInProgress(now, timings), { why: 'start-in-progress' });

/** What a record lacks never comes, and neither does an outcome or results without it. */
const endIncomplete = (at: At): Plan => {
  const { status, collectedAt } = at.record;
  if (status === 'STARTING') return staleStart(at);
  if (status === 'RUNNING')
    return toWrite(change.loseTask({ ...at, settledBy: settledBy(at.who) }), ['Unconfirmed']);
  const isCollected = collectedAt !== undefined || !(isTerminalStatus(status) || status === 'TIMED_OUT');
  return isCollected
    ? toWrite(change.closeDone(at))
    : toWrite(change.closeUncollected({ ...at, collectionError: 'InternalError' }), ['CollectionAbandoned']);
};

const planReconcile = (at: At): Plan => {
  const { record, now, timings } = at;
  if (isForeign(at)) {
    return counting('UnknownRecord', toDefer(record, due.newerVersion(now), { why: 'unknown-record' }));
  }
  if (isIn(at, 'requested')) return planRequested(at);
  if (isIn(at, 'starting')) return isStartStale(record, now, timings) ? staleStart(at) : startInProgress(at);
  if (isIn(at, 'incomplete')) return endIncomplete(at);
  return isIn(at, 'running', 'grace', 'collecting') ? planRead(at) : end('closed');
};

const planOf = (at: At): Plan => {
  const { who } = at;
  if (who.kind === 'start') return planStart(at, who.requestId);
  return who.kind === 'webhook' ? atRest(at, 'webhook') : planReconcile(at);
};

/** What follows before anything is learned: from the record, the clock and who asks. */
export const plan = (record: Extraction | undefined, who: Invoker, now: Date, timings: Timings): Plan =>
  record === undefined ? end('gone') : planOf({ record: phaseOf(record), who, now, timings });

/** What follows after one thing is learned. What does not matter for the record as it is now is ignored. */
export const judge = (
  record: Extraction | undefined,
  who: Invoker,
  seen: Seen,
  now: Date,
  timings: Timings,
): Plan => {
  if (record === undefined) return end('gone');
  const at = { record: phaseOf(record), who, now, timings };
  return isForeign(at) ? planOf(at) : (judgeOf(at, seen) ?? planOf(at));
};

/** The first write that a delivery makes of a record, without reading it. If the record refuses it, `judge` decides from what it shows. */
export const settleDelivered = (
  {
    extractionId,
    taskId,
    taskStatus,
  }: Pick<change.ReportedOutcome, 'extractionId' | 'taskId' | 'taskStatus'>,
  now: Date,
  timings: Timings,
): Plan => {
  const reported = { extractionId, taskId, taskStatus, reason: undefined, isOversized: false };
  const settled = change.markSettled({ reported, settledBy: 'webhook', now, timings });
  const seen = { kind: 'task', taskId, taskStatus, isOwn: true, isNew: false } as const;
  return toWrite(settled, [settledMetric.webhook], { ifRefused: seen });
};

/**
 * Whether an invocation that ends at this record removes the item of its request. By credentials, a reconcile leaves it to
 * start-task once the task is linked, so that a poll costs no removal. The webhook has no access to requests.
 */
export const forgetsRequest = (record: Extraction, who: Invoker): boolean => {
  if (who.kind === 'webhook' || !isRequestDone(record)) return false;
  if (who.kind === 'start' || record.method === 'consent') return true;
  return record.status === 'NOT_STARTED' || record.status === 'UNCONFIRMED';
};

/**
 * Decides about a message with a `dueAt`, if the record is not due by this clock. Another process that has moved `dueAt` ahead sends
 * its own message, or the sweep does. To go on with this one would be a second chain of messages. A message `due` for this `dueAt`
 * comes from a sender whose clock is ahead, and is sent again.
 */
export const planEarly = (record: Extraction | undefined, who: Invoker, now: Date): Plan | undefined => {
  const dueAt = record?.dueAt;
  if (who.kind !== 'queue' || dueAt === undefined) return undefined;
  const isDue = who.cause === 'due';
  if (!isDue && who.dueAt === undefined) return undefined;
  if (new Date(dueAt).getTime() <= now.getTime()) return undefined;
  if (who.dueAt !== dueAt) return end('superseded');
  return isDue ? end('deferred', 'early', 'due') : undefined;
};
