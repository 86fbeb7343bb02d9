import type { ExtractionMetric } from '../observability/metric-names.ts';
import type { Explanation, PublicCode, StartError } from './causes.ts';
import type { Change } from './change.ts';
import {
  delayUntil,
  isReadTimeOver,
  isStartStale,
  isWindowOver,
  lagEnd,
  maxDelaySeconds,
  plusSeconds,
  type Timings,
  windowEnd,
} from './deadlines.ts';
import * as due from './due.ts';
import {
  type Collecting,
  type Grace,
  type Phase,
  phaseOf,
  type Readable,
  type Running,
  type Starting,
} from './phase.ts';
import {
  type CancelProblem,
  type EndedReading,
  type Ending,
  end,
  failStart,
  type Invoker,
  moveToSlowQueue,
  type NotAccepted,
  type Observation,
  type Plan,
  type PlannedWrite,
  type Unread,
} from './plan.ts';
import {
  type Extraction,
  finalStatusIn,
  hasTaskItem,
  hasWebhook,
  isTerminalStatus,
  isUnderstood,
  type SettledBy,
  type StoredResults,
} from './record.ts';
import * as transitions from './transitions.ts';

/**
 * Decides what follows for an extraction, for every record and every invoker (design, section 3). Nothing here has an effect, and the time
 * is an argument. Some processes write without it: intake, the sweep's lease, erase and restore. So do a start, which writes `STARTING`,
 * and a read, which records when the last one began, until when the provider asked to wait, and that it was slow.
 */

/** The inputs of a decision. */
type Context<In extends Phase = Phase> = {
  readonly record: In;
  readonly invoker: Invoker;
  readonly now: Date;
  /** Their `startWindow` is that of this record: the setting, and the time that it has waited in line. */
  readonly timings: Timings;
};

const isIn = <Name extends Phase['phase']>(
  context: Context,
  ...names: readonly Name[]
): context is Context<Extract<Phase, { readonly phase: Name }>> =>
  names.some((name) => name === context.record.phase);

type Follows = Partial<Pick<PlannedWrite, 'ifWritten' | 'ifRefused' | 'keepsRequestUntil'>>;

const toWrite = (
  change: Change,
  metricsOnWrite: readonly ExtractionMetric[] = [],
  { ifWritten = 'plan', ifRefused = 'plan', ...keeps }: Follows = {},
): PlannedWrite => ({
  kind: 'write',
  change,
  metricsOnWrite,
  ifWritten,
  ifRefused,
  ...keeps,
  counts: [],
});

/** The same step follows, even if another process has written the change. */
const eitherWay = (next: Observation | 'plan') => ({ ifWritten: next, ifRefused: next });

const counting = (metric: ExtractionMetric, planned: Plan): Plan => ({
  ...planned,
  counts: [metric, ...planned.counts],
});

/**
 * Whether reads and stores are brief. All extractions share the consumers of the reconcile queue, so a hanging call must not hold one for
 * long. The slow queue has its own consumers.
 */
export const isBriefFor = (invoker: Invoker): boolean => invoker.kind === 'queue' && invoker.isSlow !== true;

const settledBy = ({ kind }: Invoker): SettledBy =>
  kind === 'start' || kind === 'webhook' ? kind : 'reconcile';

/* Waiting */

/**
 * What a record waits for. `problem`: what the last try showed, as a public code. `readsSlowly`: whether the read, or the store after it,
 * failed. Absent if no read was made.
 */
type Waiting = {
  readonly explanation: Explanation;
  readonly problem?: string;
  readonly readsSlowly?: boolean;
};

/** A read, or the store after it, that did not end the extraction. `unread` is false if the task was read. */
type Undecided =
  | Unread
  | { readonly unread: false; readonly problem: string; readonly explanation: Explanation };

/** The task was read, and this code is what the read showed. */
const readAs = (code: Explanation & PublicCode): Extract<Undecided, { unread: false }> => ({
  unread: false,
  problem: code,
  explanation: code,
});

const waitingAfter = (undecided: Undecided): Waiting => {
  const { explanation } = undecided;
  if (undecided.unread === 'not-now') return { explanation };
  const { unread, problem } = undecided;
  return {
    explanation,
    problem,
    ...(unread === 'impossible' ? {} : { readsSlowly: unread === 'failed' }),
  };
};

/** The metric of lost request data. It is counted with each write that records it, by the process that wrote it. */
const lostData = (problem: string | undefined): readonly ExtractionMetric[] =>
  problem === 'request-data-gone' ? ['RequestDataGone'] : [];

/**
 * Moves the next reconcile to `dueAt`. The process that wrote this sends the message. If another process changed the record first, that
 * process continues.
 */
const toDefer = (record: Extraction, dueAt: string, { explanation, problem, readsSlowly }: Waiting): Plan => {
  // A message or the sweep already comes at this time, so nothing is written, not even the problem.
  if (record.dueAt === dueAt) return end('deferred', explanation);
  const rescheduled = transitions.reschedule({
    record,
    dueAt,
    // Without a read, the attribute stays as it is.
    readsSlowly: readsSlowly ?? record.readsSlowly === true,
    lastProblem: problem,
  });
  return toWrite(rescheduled, lostData(problem), {
    keepsRequestUntil: dueAt,
    ifWritten: end('deferred', explanation, 'due'),
    ifRefused: end('deferred', explanation),
  });
};

/**
 * Nothing can be decided about a running task now. If the task has a webhook, the machine retries by itself. The queue polls all others, at
 * growing intervals: they are polled from their start on, and each retry of the machine would cost a state transition.
 */
const pollLater = ({ record, invoker, now, timings }: Context<Running>, waiting: Waiting): Plan => {
  if (invoker.kind === 'machine' && hasWebhook(record)) return end('not-yet', waiting.explanation);
  return toDefer(record, due.nextPoll(record, now, timings), waiting);
};

/* Reads */

/** Whether the time of the status is over. A read is judged by the time at which it has ended, up to a function timeout after its begin. */
const isTimeOver = ({ record, now, timings }: Context<Readable>): boolean =>
  isReadTimeOver(record, now, timings);

/** Whether the process of the last read has ended. Lambda ends a process at the timeout of its function. */
export const isLastReadLost = ({ lastReadBegunAt }: Extraction, now: Date, timings: Timings): boolean =>
  lastReadBegunAt !== undefined && now.toISOString() > plusSeconds(lastReadBegunAt, timings.reconcileTimeout);

/**
 * A process that ends during a read, for example because it runs out of memory, cannot report that, so a message or the sweep reads again.
 * After the time of the status, this must not keep the record open. So the record stores when the last read began. If that process has
 * ended, the record continues without a read. The last read has the whole timeout, because a brief read that fails decides nothing.
 */
const toRead = (context: Context<Readable>): Plan => {
  const { record, invoker, now } = context;
  const { taskId } = record;
  const isOver = isTimeOver(context);
  if (isBriefFor(invoker) && (isOver || record.readsSlowly === true)) return moveToSlowQueue();
  // Until `notBefore` the provider accepts no call. The last read before a close is made even so, because no later one follows.
  const mayWait = !isOver || record.phase === 'running';
  if (mayWait && record.notBefore !== undefined && now.toISOString() < record.notBefore)
    return goOn(context, { unread: 'not-now', explanation: 'not-before' });
  if (!isOver) return { kind: 'read', taskId, counts: [] };
  return isLastReadLost(record, now, context.timings)
    ? { kind: 'no-read', counts: [] }
    : { kind: 'last-read', taskId, counts: [] };
};

/* Start */

const isTooLateToStart = ({ record, now, timings }: Context): boolean => isWindowOver(record, now, timings);

/**
 * start-task fails its state. After the start window that is StartWindowOver, whatever the error is. The machine then passes the problem to
 * Reconcile, which writes NOT_STARTED at once, whatever the line shows.
 */
const failInWindow = (context: Context, error: StartError, problem: string | undefined): Ending =>
  failStart(isTooLateToStart(context) ? 'StartWindowOver' : error, problem);

const beforeStart = (context: Context): Plan => {
  const { notBefore, lastProblem } = context.record;
  // Not even a login is made before the time that the provider named.
  if (notBefore !== undefined && context.now.toISOString() < notBefore)
    return failInWindow(context, 'ProviderBusy', lastProblem);
  return { kind: isTooLateToStart(context) ? 'check-start' : 'start', counts: [] };
};

const isStale = ({ record, now, timings }: Context<Starting>): boolean => isStartStale(record, now, timings);

const staleStart = (context: Context): Plan =>
  toWrite(
    transitions.markUnconfirmed({
      ...context,
      reason: 'start-interrupted',
      settledBy: settledBy(context.invoker),
    }),
    ['Unconfirmed'],
  );

/** What follows for the machine's state StartTask. */
const planStart = (context: Context, requestId: string): Plan => {
  const { record } = context;
  // After an erasure or a loss, a repeated idempotency key creates another record under the same id.
  if (record.requestId !== requestId) return end('gone');
  if (isIn(context, 'requested')) return beforeStart(context);
  if (isIn(context, 'starting')) return isStale(context) ? staleStart(context) : failStart('StartInProgress');
  if (!isIn(context, 'running')) return atRest(context, 'start');
  return hasTaskItem(record)
    ? { kind: 'find-task', taskId: context.record.taskId, counts: [] }
    : end('queued', undefined, 'due');
};

/** The queue continues with an open record. */
const atRest = (context: Context, cause: 'start' | 'webhook'): Ending =>
  isIn(context, 'closed') ? end('closed') : end('queued', undefined, cause);

const afterNoCall = (
  context: Context,
  observed: Extract<Observation, { kind: 'not-called' }>,
): Plan | undefined => {
  const { record } = context;
  if (!isIn(context, 'requested')) return undefined;
  const { error, notBefore, problem } = observed;
  const failed = failInWindow(context, error, problem);
  if (notBefore === undefined || isTooLateToStart(context)) return failed;
  const postponed = transitions.postponeCalls({ record, notBefore, lastProblem: problem });
  return toWrite(postponed, [], { ifWritten: failed });
};

/** The record is `REQUESTED` again, and start-task fails its state. */
const retakeStart = (
  decision: Context<Starting> & { readonly attemptId: string },
  { error, problem, notBefore }: Pick<NotAccepted, 'error' | 'problem' | 'notBefore'>,
): Plan =>
  toWrite(transitions.revertToRequested({ ...decision, notBefore, lastProblem: problem }), [], {
    ifWritten: failInWindow(decision, error, problem),
  });

const afterStartCall = (
  context: Context,
  observed: Extract<Observation, { kind: 'called' }>,
): Plan | undefined => {
  const { result, attemptId } = observed;
  if (context.record.attemptId !== attemptId) return undefined;
  if (context.record.status === 'UNCONFIRMED' && result.kind === 'accepted') {
    return toWrite(transitions.markRunningLate({ ...context, attemptId, taskId: result.taskId }));
  }
  if (!isIn(context, 'starting')) return undefined;
  const decision = { ...context, attemptId };
  switch (result.kind) {
    case 'accepted':
      // If another process has settled the start as stale, the task id may still be written.
      return toWrite(transitions.markRunning({ ...decision, taskId: result.taskId }), [], {
        ifRefused: observed,
      });
    case 'not-accepted':
      return retakeStart(decision, result);
    case 'over-the-rate':
      // In line, its place keeps the time.
      return retakeStart(decision, { ...result, error: 'Waits', notBefore: undefined });
    case 'refused':
      return toWrite(transitions.markRejected({ ...decision, reason: result.reason }), ['Rejected']);
    case 'unknown':
      return toWrite(
        transitions.markUnconfirmed({ ...decision, reason: result.reason, settledBy: 'start' }),
        ['Unconfirmed'],
      );
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
  context: Context,
  reported: Omit<transitions.ReportedOutcome, 'extractionId'>,
  also: readonly ExtractionMetric[],
  observed: Extract<Observation, { kind: 'read' | 'task' }>,
): Plan => {
  const { extractionId, status } = context.record;
  const follows = eitherWay(observed);
  const by = settledBy(context.invoker);
  const decision = { ...context, reported: { extractionId, ...reported }, settledBy: by };
  const metricsOnWrite = [settledMetric[by], ...also];
  return status === 'RUNNING'
    ? toWrite(transitions.markSettled(decision), metricsOnWrite, follows)
    : toWrite(transitions.correctOutcome(decision), [...metricsOnWrite, 'Corrected'], follows);
};

/** Whether the final status of the task becomes the outcome, or replaces `TIMED_OUT`. The record may be closed. */
const mayTakeStatus = ({ status }: Extraction): boolean => status === 'RUNNING' || status === 'TIMED_OUT';

const disown = (context: Context<Running | Grace>, taskId: string): Plan =>
  // It is counted before the write. Data may have leaked, so the alarm must not depend on the write.
  counting(
    'TaskLinkedElsewhere',
    context.record.phase === 'running'
      ? toWrite(transitions.disownTask({ ...context, taskId, settledBy: settledBy(context.invoker) }), [
          'Unconfirmed',
        ])
      : toWrite(transitions.closeUncollected({ ...context, collectionError: 'task-linked-elsewhere' })),
  );

/**
 * The answer was over the size limit, so its results are abandoned. If the record of a v2 task is still running, it waits for the webhook
 * until the deadline, because a read cannot return the status.
 */
const planOversized = (
  context: Context<Readable>,
  observed: Extract<Observation, { kind: 'read' }> | 'plan',
): Plan => {
  const follows = eitherWay(observed);
  if (!isIn(context, 'running')) {
    return toWrite(
      transitions.abandonOversized(context),
      unlessErasing(context, 'CollectionAbandoned'),
      follows,
    );
  }
  if (isTimeOver(context)) {
    const metrics = ['TimedOut', ...unlessErasing(context, 'CollectionAbandoned')] as const;
    return toWrite(transitions.timeOutOversized(context), metrics, follows);
  }
  return context.record.oversizedAt === undefined
    ? toWrite(transitions.rememberOversized(context), [], follows)
    : pollLater(context, { explanation: 'results-too-large', problem: 'results-too-large' });
};

/**
 * Whether the record ends now, because the time of its status is over. A running record then becomes TIMED_OUT even while reads are held,
 * because it is read again in grace. In the other phases it stays open while reads are held.
 */
const endsNow = (context: Context<Readable>, { unread }: Undecided): boolean =>
  isTimeOver(context) && (context.record.phase === 'running' || unread !== 'not-now');

/** What follows if no final status was learned. */
const withoutFinalStatus = (context: Context<Running | Grace>, undecided: Undecided): Plan => {
  const { record, now } = context;
  const waiting = waitingAfter(undecided);
  const { explanation, problem } = waiting;
  if (record.phase === 'running') {
    if (!endsNow(context, undecided)) return pollLater({ ...context, record }, waiting);
    // Without a webhook, each read without a final status leaves a `lastProblem` or `readsSlowly`, unless its write failed.
    const wasRead = hasWebhook(record) || record.readsSlowly === true;
    const neverRead = wasRead ? undefined : 'never-read';
    const lastProblem = problem ?? record.lastProblem ?? neverRead;
    // The next read is the first one in grace. It is due later, so that it does not repeat this read.
    return toWrite(
      transitions.markTimedOut({ ...context, lastProblem }),
      ['TimedOut', ...lostData(problem)],
      {
        ifWritten: end('deferred', explanation, 'due'),
      },
    );
  }
  if (!endsNow(context, undecided))
    return toDefer(record, due.correctionAgain(record, now, context.timings), waiting);
  return undecided.unread === 'impossible'
    ? abandon(context, undecided)
    : toWrite(transitions.closeAfterGrace({ ...context, lastProblem: problem }));
};

const abandon = (
  context: Context<Readable>,
  { problem, explanation }: Exclude<Undecided, { unread: 'not-now' }>,
): Plan =>
  toWrite(transitions.closeUncollected({ ...context, collectionError: explanation, lastProblem: problem }), [
    ...unlessErasing(context, 'CollectionAbandoned'),
    ...lostData(problem),
  ]);

/**
 * After a failed collection, the queue and later the sweep try again, at growing intervals. After the last read, the collection is
 * abandoned.
 */
const withoutResults = (
  context: Context<Collecting>,
  undecided: Undecided,
  dueAfter: typeof due.resultsAgain = due.resultsAgain,
): Plan => {
  const { record, now, timings } = context;
  if (undecided.unread !== 'not-now' && endsNow(context, undecided))
    return counting('CollectionFailed', abandon(context, undecided));
  const dueAt = dueAfter(record, now, timings);
  const deferred = toDefer(record, dueAt, waitingAfter(undecided));
  const planned =
    delayUntil(dueAt, now) > maxDelaySeconds ? counting('CollectionDeferred', deferred) : deferred;
  return undecided.unread === 'not-now' ? planned : counting('CollectionFailed', planned);
};

const goOn = ({ record, ...context }: Context<Readable>, undecided: Undecided): Plan =>
  record.phase === 'collecting'
    ? withoutResults({ ...context, record }, undecided)
    : withoutFinalStatus({ ...context, record }, undecided);

/**
 * A brief read that fails decides nothing, because the slow queue repeats it with the whole timeout. Any other failed read counts as one
 * without an answer, even if the failure was ours. It must not keep a record open beyond its deadline.
 */
const afterNoRead = (context: Context, observed: Unread): Plan | undefined => {
  if (!isIn(context, 'running', 'grace', 'collecting')) return undefined;
  if (observed.unread === 'failed' && isBriefFor(context.invoker))
    return moveToSlowQueue(observed.explanation);
  const planned = goOn(context, observed);
  return observed.unread === 'failed' ? counting('ProviderReadFailed', planned) : planned;
};

/** Whether the document shows results for this outcome. It shows none for wrong or locked credentials, nor for a failure by consent. */
const impliesResults = ({ method, status }: Extraction): boolean =>
  status === 'COMPLETED' || status === 'PARTIAL' || (status === 'FAILED' && method === 'credentials');

/** Whether the results lack a part of what was requested. The provider may report the end of a task before it shows its results. */
const lacksResults = (record: Extraction, { results }: EndedReading): boolean =>
  impliesResults(record) && results === 'part';

const closeCollected = (
  context: Context<Collecting>,
  reading: EndedReading,
  results: StoredResults | undefined,
): Plan => {
  const { actionResults } = reading;
  const metricsOnWrite: readonly ExtractionMetric[] = ['Collected'];
  return results !== undefined && lacksResults(context.record, reading)
    ? toWrite(
        transitions.closeCollected({ ...context, results, actionResults, lastProblem: 'results-incomplete' }),
        [...metricsOnWrite, 'ResultsIncomplete'],
      )
    : toWrite(transitions.closeCollected({ ...context, results, actionResults }), metricsOnWrite);
};

/** From now on nothing of its results is stored or published. No alarm counts this, because the erasure was requested. */
const closeErased = (context: Context<Collecting>): Plan =>
  toWrite(transitions.closeUncollected({ ...context, collectionError: 'erased' }));

/** Whether to close the record for its erasure. A start and a delivery leave this to the queue, as they leave the collection. */
const isToCloseErased = (context: Context): context is Context<Collecting> =>
  isIn(context, 'collecting') &&
  context.record.erasingAt !== undefined &&
  context.invoker.kind !== 'start' &&
  context.invoker.kind !== 'webhook';

/** No alarm counts missing results whose erasure was requested. */
const unlessErasing = (
  { record }: Context,
  ...metrics: readonly ExtractionMetric[]
): readonly ExtractionMetric[] => (record.erasingAt === undefined ? metrics : []);

const collectEnded = (context: Context<Collecting>, reading: EndedReading): Plan => {
  const { record } = context;
  // If the outcome implies results, a read without them is a passing error of the provider.
  if (reading.results === 'none' && (record.status === 'COMPLETED' || record.status === 'PARTIAL')) {
    return withoutResults(context, readAs('no-results'));
  }
  if (lacksResults(record, reading) && context.now.toISOString() < lagEnd(record, context.timings)) {
    return withoutResults(context, readAs('results-incomplete'), due.restOfResults);
  }
  const stored: Plan =
    reading.results === 'none'
      ? closeCollected(context, reading, undefined)
      : { kind: 'store', reading, counts: [] };
  return reading.expected ? stored : counting('UnexpectedResults', stored);
};

/** Stores the results of an extraction that has ended, and closes the record. */
const collect = (context: Context<Collecting>, observed: Extract<Observation, { kind: 'read' }>): Plan => {
  const { record } = context;
  const { reading } = observed;
  if (reading.kind === 'too-large') return planOversized(context, observed);
  if (reading.kind === 'running') return withoutResults(context, readAs('still-running'));
  const planned = collectEnded(context, reading);
  return reading.taskStatus === record.status ? planned : counting('StatusDisagreement', planned);
};

const afterRead = (context: Context, observed: Extract<Observation, { kind: 'read' }>): Plan | undefined => {
  const { record } = context;
  const { taskId, reading } = observed;
  if (record.taskId !== taskId) return undefined;
  if (isIn(context, 'collecting')) return collect(context, observed);
  if (reading.kind !== 'running' && reading.taskStatus !== undefined && mayTakeStatus(record)) {
    const { taskStatus } = reading;
    const reason = reading.kind === 'ended' ? reading.reason : undefined;
    const reported = { taskId, taskStatus, reason, isOversized: reading.kind === 'too-large' };
    // Deliveries settle while the execution polls. So a read is first only if all five deliveries were lost, or between the end of a task
    // and its first delivery.
    return settle(context, reported, hasWebhook(record) ? ['WebhookMissed'] : [], observed);
  }
  if (!isIn(context, 'running', 'grace')) return undefined;
  if (reading.kind !== 'running') return planOversized(context, observed);
  const waiting = withoutFinalStatus(context, readAs('still-running'));
  return reading.known ? waiting : counting('UnknownTaskStatus', waiting);
};

/** Decides from the status that a webhook stored in `Tasks`, which counts as much as one that was read. */
const afterTask = (context: Context, observed: Extract<Observation, { kind: 'task' }>): Plan | undefined => {
  const { record, invoker } = context;
  const { taskId, isNew } = observed;
  if (record.taskId !== taskId) return undefined;
  if (!observed.isOwn) return isIn(context, 'running', 'grace') ? disown(context, taskId) : undefined;
  const taskStatus = finalStatusIn(observed);
  if (taskStatus !== undefined) {
    if (mayTakeStatus(record)) {
      const reported = { taskId, taskStatus, reason: undefined, isOversized: false };
      return settle(context, reported, isNew ? ['EarlyDelivery'] : [], observed);
    }
    const disagrees = isTerminalStatus(record.status) && record.status !== taskStatus;
    return disagrees ? counting('StatusDisagreement', planOf(context)) : undefined;
  }
  if (!isIn(context, 'running', 'grace')) return undefined;
  if (invoker.kind === 'start')
    return hasWebhook(record) ? end('awaits-webhook') : end('queued', undefined, 'due');
  return record.oversizedAt === undefined ? toRead(context) : planOversized(context, 'plan');
};

const judgeOf = (context: Context, observed: Observation): Plan | undefined => {
  switch (observed.kind) {
    case 'not-called':
      return afterNoCall(context, observed);
    case 'refused-before':
      return isIn(context, 'requested')
        ? toWrite(transitions.rejectRefused(context), ['Rejected'])
        : undefined;
    case 'called':
      return afterStartCall(context, observed);
    case 'request': {
      if (!isIn(context, 'requested')) return undefined;
      const reason = observed.isThere ? observed.reason : 'request-data-gone';
      const { lastProblem = observed.problem ?? context.record.lastProblem } =
        context.invoker.kind === 'machine' ? context.invoker : {};
      return toWrite(transitions.markNotStarted({ ...context, reason, lastProblem }), ['NotStarted']);
    }
    case 'task':
      return afterTask(context, observed);
    case 'read':
      return afterRead(context, observed);
    case 'unread':
      return afterNoRead(context, observed);
    case 'stored': {
      const { reading, results } = observed;
      if (!isIn(context, 'collecting')) return undefined;
      if (results !== undefined) return closeCollected(context, reading, results);
      // A brief store that fails decides nothing, as for a read. The slow queue repeats it.
      return isBriefFor(context.invoker)
        ? moveToSlowQueue('results-not-stored')
        : withoutResults(context, {
            unread: 'failed',
            problem: 'results-not-stored',
            explanation: 'results-not-stored',
          });
    }
  }
};

const planRequested = (context: Context): Plan => {
  const { invoker } = context;
  const isAbandoned =
    invoker.kind === 'machine' || (invoker.kind === 'queue' && invoker.cause === 'execution-broken');
  if (isTooLateToStart(context)) return { kind: 'find-request', reason: 'start-window-over', counts: [] };
  return isAbandoned
    ? { kind: 'find-request', reason: 'start-abandoned', counts: [] }
    : toDefer(context.record, windowEnd(context.record.requestedAt, context.timings), {
        explanation: 'not-started-yet',
      });
};

/** Reads for an outcome, or for the results of one. */
const planRead = (context: Context<Readable>): Plan => {
  const { record } = context;
  if (isToCloseErased(context)) return closeErased(context);
  if (record.phase !== 'collecting' && hasTaskItem(record))
    return { kind: 'find-task', taskId: record.taskId, counts: [] };
  return record.oversizedAt === undefined ? toRead(context) : planOversized(context, 'plan');
};

/** A newer version wrote the record before a rollback. Only what start-task and the webhook alone know is still written. */
const isForeign = ({ record, invoker }: Context): boolean =>
  invoker.kind !== 'start' &&
  invoker.kind !== 'webhook' &&
  record.dueShard !== undefined &&
  !isUnderstood(record);

/** Another process may make the start call. */
const startInProgress = ({ record, invoker, now, timings }: Context): Plan =>
  invoker.kind === 'machine'
    ? end('not-yet', 'start-in-progress')
    : toDefer(record, due.startInProgress(now, timings), { explanation: 'start-in-progress' });

/** A missing attribute never comes, and without it there is no outcome or result. */
const endIncomplete = (context: Context): Plan => {
  const { status, collectedAt } = context.record;
  if (status === 'STARTING') return staleStart(context);
  if (status === 'RUNNING')
    return toWrite(transitions.loseTask({ ...context, settledBy: settledBy(context.invoker) }), [
      'Unconfirmed',
    ]);
  const isCollected = collectedAt !== undefined || !(isTerminalStatus(status) || status === 'TIMED_OUT');
  return isCollected
    ? toWrite(transitions.closeDone(context))
    : toWrite(
        transitions.closeUncollected({ ...context, collectionError: 'InternalError' }),
        unlessErasing(context, 'CollectionAbandoned'),
      );
};

const planReconcile = (context: Context): Plan => {
  const { record, now } = context;
  if (isForeign(context)) {
    return counting(
      'UnknownRecord',
      toDefer(record, due.newerVersion(now), { explanation: 'unknown-record' }),
    );
  }
  if (isIn(context, 'requested')) return planRequested(context);
  if (isIn(context, 'starting')) return isStale(context) ? staleStart(context) : startInProgress(context);
  if (isIn(context, 'incomplete')) return endIncomplete(context);
  return isIn(context, 'running', 'grace', 'collecting') ? planRead(context) : end('closed');
};

/** The `STARTING` write has the same condition as this one, so only the first of the two is written. */
const planCancel = (context: Context, problem: CancelProblem): Plan => {
  if (isForeign(context)) return end('not-cancelled', 'unknown-record');
  if (isIn(context, 'requested'))
    return toWrite(transitions.markNotStarted({ ...context, reason: problem, lastProblem: problem }));
  return isIn(context, 'closed') ? end('closed') : end('not-cancelled', 'start-claimed');
};

const planOf = (context: Context): Plan => {
  const { invoker } = context;
  if (invoker.kind === 'cancel') return planCancel(context, invoker.problem);
  if (invoker.kind === 'start') return planStart(context, invoker.requestId);
  return invoker.kind === 'webhook' ? atRest(context, 'webhook') : planReconcile(context);
};

/** Returns what follows before anything is learned, from the record, the clock and the invoker. */
export const plan = (record: Extraction | undefined, invoker: Invoker, now: Date, timings: Timings): Plan =>
  record === undefined ? end('gone') : planOf({ record: phaseOf(record), invoker, now, timings });

/** Returns what follows after one thing was learned. It is ignored if it does not concern the record as it is now. */
export const judge = (
  record: Extraction | undefined,
  invoker: Invoker,
  observed: Observation,
  now: Date,
  timings: Timings,
): Plan => {
  if (record === undefined) return end('gone');
  const context = { record: phaseOf(record), invoker, now, timings };
  if (isForeign(context)) return planOf(context);
  return isToCloseErased(context) ? closeErased(context) : (judgeOf(context, observed) ?? planOf(context));
};

/**
 * The first write of a delivery, which does not read the record. It needs a record that is `RUNNING` with this task. If the record refuses it,
 * `judge` decides from that record; one with the same status counts as written.
 */
export const settleDelivered = (
  {
    extractionId,
    taskId,
    taskStatus,
  }: Pick<transitions.ReportedOutcome, 'extractionId' | 'taskId' | 'taskStatus'>,
  now: Date,
  timings: Timings,
): PlannedWrite => {
  const reported = { extractionId, taskId, taskStatus, reason: undefined, isOversized: false };
  const settled = transitions.markSettled({ reported, settledBy: 'webhook', now, timings });
  // The item of the task names the extraction, so the task belongs to it.
  const observed = { kind: 'task', taskId, taskStatus, isOwn: true, isNew: false } as const;
  return toWrite(settled, [settledMetric.webhook], { ifRefused: observed });
};

/**
 * Decides about a message with a `dueAt`, if the record is not due by this clock. If another process has moved `dueAt` ahead, that process
 * or the sweep sends the next message. To continue with this one would begin a second chain of messages. A message `due` for this `dueAt`
 * comes from a sender whose clock is ahead, and is sent again. Any other message for it, such as the sweep's, continues.
 */
export const planEarly = (record: Extraction | undefined, invoker: Invoker, now: Date): Plan | undefined => {
  const dueAt = record?.dueAt;
  if (invoker.kind !== 'queue' || dueAt === undefined) return undefined;
  const isDue = invoker.cause === 'due';
  if (!isDue && invoker.dueAt === undefined) return undefined;
  if (new Date(dueAt).getTime() <= now.getTime()) return undefined;
  if (invoker.dueAt !== dueAt) return end('superseded');
  return isDue ? end('deferred', 'early', 'due') : undefined;
};
