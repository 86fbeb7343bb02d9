import { ProviderPaused } from '../breaker/provider-trouble.ts';
import { defined } from '../defined.ts';
import type { ExtractionMetric } from '../observability/metric-names.ts';
import { ProviderError } from '../provider/transport/errors.ts';
import { isStartStale, nextReconcileAt, plusSeconds, type Timings } from './deadlines.ts';
import type { Journal } from './journal.ts';
import { ReadEndsProcess, type Reading } from './reading.ts';
import {
  delayUntil,
  longestDelaySeconds,
  type ReconcileCause,
  type SendReconcile,
} from './reconcile-queue.ts';
import {
  type Extraction,
  hasWebhook,
  isTerminalStatus,
  isUnderstood,
  type StoredResults,
  type TerminalStatus,
} from './record.ts';
import { settle } from './settle.ts';
import { type ExtractionStore, type Task, type TaskStore, writeChange } from './store.ts';
import {
  abandonOversized,
  type Change,
  closeAfterGrace,
  closeCollected,
  closeUncollected,
  decisionOn,
  disownTask,
  markNotStarted,
  markTimedOut,
  markUnconfirmed,
  type ReportedOutcome,
  rememberOversized,
  reschedule,
  timeOutOversized,
} from './transitions.ts';

/**
 * Who called. The machine retries "not yet" by itself. For every other caller, the queue continues, or the sweep.
 * `afterFailure`: an earlier invocation for the same message, or in the same execution, failed or ended its process.
 */
export type ReconcileCaller =
  | { readonly kind: 'machine'; readonly startAbandoned: boolean; readonly afterFailure?: boolean }
  | {
      readonly kind: 'queue';
      readonly cause: ReconcileCause;
      readonly dueAt?: string;
      readonly afterFailure?: boolean;
    }
  | { readonly kind: 'operator' };

export type ReconcileDeps = {
  readonly extractions: ExtractionStore;
  readonly tasks: TaskStore;
  /**
   * Reads the task of a record from the provider, in the way of its method. `isLast`: the record closes for good after it,
   * so that only a pause by an operator holds the read.
   */
  readonly read: (
    record: Extraction,
    taskId: string,
    options: { readonly isLast: boolean },
  ) => Promise<Reading>;
  /** Stores the bytes under `{extractionId}/{sha256}.json`, so that the same bytes become one object. */
  readonly storeResults: (extractionId: string, bytes: Uint8Array) => Promise<StoredResults>;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly journal: Journal;
};

export type ReconcileResult =
  | { readonly kind: 'closed'; readonly record: Extraction }
  /**
   * The rest is done later. `next` is the `dueAt` for which this process sends a message: it has set it, or consumes the
   * message for it. Absent if another process does so, because only one may.
   */
  | {
      readonly kind: 'deferred';
      readonly record: Extraction;
      readonly why: string;
      readonly next: string | undefined;
    }
  /** To the machine only, which retries. */
  | { readonly kind: 'not-yet'; readonly record: Extraction; readonly why: string }
  /** The message is for an earlier `dueAt`. The process that has moved it ahead continues. */
  | { readonly kind: 'superseded'; readonly record: Extraction }
  /** There is no row: it was erased, or its retention is over. */
  | { readonly kind: 'gone' };

/** The longest pause between two attempts to collect, in seconds. */
const collectCeiling = 3600;

type Step =
  | { readonly kind: 'return'; readonly result: ReconcileResult }
  /** Decide again from this row. A reading that was made on the way is used again. */
  | { readonly kind: 'again'; readonly record: Extraction | undefined; readonly reading?: Reading };

/** Why a read was not made, and the `collectionError` of a record that is closed for it. */
const endsProcess = 'read-ends-process';

type ReadResult =
  | { readonly kind: 'read'; readonly reading: Reading }
  /** `isHeld`: no read was made. */
  | { readonly kind: 'no-answer'; readonly why: string; readonly isHeld?: true };

/**
 * Reads the provider. Every failure counts as a poll without an answer, even one on our side such as an unreadable
 * secret. It must not keep a record open beyond its deadline.
 */
const readProvider = async (
  record: Extraction,
  taskId: string,
  isLast: boolean,
  deps: ReconcileDeps,
): Promise<ReadResult> => {
  try {
    return { kind: 'read', reading: await deps.read(record, taskId, { isLast }) };
  } catch (error) {
    // The breaker has counted it. No read was made, so none has failed.
    if (error instanceof ProviderPaused) return { kind: 'no-answer', why: error.name, isHeld: true };
    if (error instanceof ReadEndsProcess) {
      deps.journal.count('ReadEndsProcess', record);
      return { kind: 'no-answer', why: endsProcess };
    }
    deps.journal.count('ProviderReadFailed', record);
    deps.journal.failure('The task could not be read.', error, record);
    return { kind: 'no-answer', why: error instanceof ProviderError ? error.name : 'InternalError' };
  }
};

/**
 * Writes a change that closes the record. Counts `metrics` unless another process had closed it in the same way. If the
 * row refuses the change, the decision is made again.
 */
const close = async (
  change: Change,
  deps: ReconcileDeps,
  ...metrics: readonly ExtractionMetric[]
): Promise<Step> => {
  const { kind, record } = await writeChange(deps.extractions, change);
  if (kind === 'lost') return { kind: 'again', record };
  if (kind === 'written') for (const metric of metrics) deps.journal.count(metric, record);
  return { kind: 'return', result: { kind: 'closed', record } };
};

/** Sets `dueAt`. Only the process that has written it sends the next message. */
const deferUntil = async (
  record: Extraction,
  dueAt: string,
  why: string,
  deps: ReconcileDeps,
): Promise<Step> => {
  // It has a message for this time already.
  if (record.dueAt === dueAt) {
    return { kind: 'return', result: { kind: 'deferred', record, why, next: undefined } };
  }
  const outcome = await writeChange(deps.extractions, reschedule({ record, dueAt }));
  const next = outcome.kind === 'written' ? dueAt : undefined;
  return { kind: 'return', result: { kind: 'deferred', record: outcome.record ?? record, why, next } };
};

/** When an open record without an outcome is reconciled next. Polls of a running task follow at growing intervals. */
const nextPollAt = ({ startedAt }: Extraction, { now, timings }: ReconcileDeps): string => {
  const { pollFirst, pollEvery } = timings;
  return startedAt === undefined
    ? plusSeconds(now(), pollEvery)
    : nextReconcileAt(startedAt, now(), pollFirst, pollEvery);
};

/**
 * Nothing can be decided now. The machine retries by itself, at the price of a transition for each retry. So a task by
 * consent, which is polled from its start on, is polled by the queue.
 */
const notYet = async (
  record: Extraction,
  why: string,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  const isPolledByQueue = record.status === 'RUNNING' && !hasWebhook(record);
  return caller.kind === 'machine' && !isPolledByQueue
    ? { kind: 'return', result: { kind: 'not-yet', record, why } }
    : deferUntil(record, nextPollAt(record, deps), why, deps);
};

const reconcileRequested = async (
  record: Extraction,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  const now = deps.now();
  const isAbandoned =
    (caller.kind === 'queue' && caller.cause === 'execution-broken') ||
    (caller.kind === 'machine' && caller.startAbandoned);
  const windowOver = now.toISOString() >= plusSeconds(record.requestedAt, deps.timings.startWindow);
  if (!isAbandoned && !windowOver) return notYet(record, 'not-started-yet', caller, deps);
  const reason = isAbandoned ? 'start-abandoned' : 'start-window-over';
  return close(markNotStarted({ record, reason, now, timings: deps.timings }), deps, 'NotStarted');
};

const reconcileStarting = async (
  record: Extraction,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  if (record.attemptId === undefined || !isStartStale(record, deps.now(), deps.timings)) {
    return notYet(record, 'start-in-progress', caller, deps);
  }
  const { attemptId } = record;
  const interrupted = { attemptId, reason: 'start-interrupted', settledBy: 'reconcile' } as const;
  return close(markUnconfirmed({ ...decisionOn(record, deps), ...interrupted }), deps, 'Unconfirmed');
};

/**
 * The row of a task in `Tasks`. A task that start-task did not link is adopted before anything is read or decided. From
 * then on, every delivery finds the extraction. `adopted` is true if this call found the task unlinked.
 */
const findOrAdoptTask = async (
  { extractionId }: Extraction,
  taskId: string,
  deps: ReconcileDeps,
): Promise<{ readonly task: Task; readonly adopted: boolean }> => {
  const found = await deps.tasks.get(taskId);
  if (found?.extractionId !== undefined) return { task: found, adopted: false };
  return { task: await deps.tasks.adopt(taskId, extractionId), adopted: true };
};

type OutcomeSearch =
  | { readonly kind: 'settled'; readonly step: Step }
  | { readonly kind: 'none'; readonly why: string; readonly isHeld?: true }
  /** The task has ended with results over the size limit. Only a webhook can report its final status. */
  | { readonly kind: 'too-large' }
  | { readonly kind: 'linked-elsewhere' };

/**
 * Settles from the status that a webhook left in `Tasks`, or else from a read of the provider. An answer over the size
 * limit will not become smaller, so the provider is not read again.
 */
const findOutcome = async (
  record: Extraction,
  taskId: string,
  { known, isLast }: { readonly known: Reading | undefined; readonly isLast: boolean },
  deps: ReconcileDeps,
): Promise<OutcomeSearch> => {
  const { extractionId } = record;
  const found = hasWebhook(record) ? await findOrAdoptTask(record, taskId, deps) : undefined;
  if (found !== undefined && found.task.extractionId !== extractionId) {
    // Counted before any write: this may be a leak, so the alarm must not depend on whether a write succeeds.
    deps.journal.count('TaskLinkedElsewhere', record);
    return { kind: 'linked-elsewhere' };
  }
  const notified = found?.task.taskStatus;
  if (notified !== undefined && isTerminalStatus(notified)) {
    const reported = { extractionId, taskId, taskStatus: notified };
    // The delivery came before any extraction was linked to its task.
    const early = found?.adopted ? (['EarlyDelivery'] as const) : [];
    const row = await settle('reconcile', reported, deps, ...early);
    return { kind: 'settled', step: { kind: 'again', record: row } };
  }
  if (record.oversizedAt !== undefined || known?.kind === 'too-large') return { kind: 'too-large' };
  const read = await readProvider(record, taskId, isLast, deps);
  if (read.kind === 'no-answer') return { ...read, kind: 'none' };
  const { reading } = read;
  if (reading.kind === 'running') {
    if (!reading.known) deps.journal.count('UnknownTaskStatus', record);
    return { kind: 'none', why: 'still-running' };
  }
  if (reading.taskStatus === undefined) return { kind: 'too-large' };
  // Deliveries settle while the machine polls, too. A read is first only if all five deliveries were lost, or in the
  // moment between the end of a task and its first delivery.
  const missed = hasWebhook(record) ? (['WebhookMissed'] as const) : [];
  const reported = reportedOutcome(record, taskId, reading, reading.taskStatus);
  const row = await settle('reconcile', reported, deps, ...missed);
  return { kind: 'settled', step: { kind: 'again', record: row, reading } };
};

const reportedOutcome = (
  { extractionId }: Extraction,
  taskId: string,
  reading: Exclude<Reading, { kind: 'running' }>,
  taskStatus: TerminalStatus,
): ReportedOutcome => ({
  extractionId,
  taskId,
  taskStatus,
  ...(reading.kind === 'ended' && reading.reason !== undefined ? { reason: reading.reason } : {}),
  ...(reading.kind === 'too-large' ? { oversized: true } : {}),
});

/**
 * Waits for the webhook until the deadline, because a read cannot return the status of a v2 task over the size limit.
 */
const reconcileOversized = async (
  record: Extraction,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  const now = deps.now();
  if (now.toISOString() >= record.deadlineAt) {
    const timedOut = timeOutOversized({ record, now, timings: deps.timings });
    return closeOversized(timedOut, deps, 'TimedOut', 'CollectionAbandoned');
  }
  if (record.oversizedAt !== undefined) return notYet(record, 'results-too-large', caller, deps);
  const remembered = await writeChange(deps.extractions, rememberOversized({ record, now }));
  return remembered.kind === 'lost'
    ? { kind: 'again', record: remembered.record, reading: { kind: 'too-large' } }
    : notYet(remembered.record, 'results-too-large', caller, deps);
};

/** Closes, and keeps the reading for the next decision if the row refuses, so that nothing is downloaded again. */
const closeOversized = async (
  change: Change,
  deps: ReconcileDeps,
  ...metrics: readonly ExtractionMetric[]
): Promise<Step> => {
  const step = await close(change, deps, ...metrics);
  return step.kind === 'again' ? { ...step, reading: { kind: 'too-large' } } : step;
};

const reconcileRunning = async (
  record: Extraction,
  taskId: string,
  reading: Reading | undefined,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  // Grace follows, so that this read need not be the last one.
  const found = await findOutcome(record, taskId, { known: reading, isLast: false }, deps);
  if (found.kind === 'settled') return found.step;
  if (found.kind === 'too-large') return reconcileOversized(record, caller, deps);
  if (found.kind === 'linked-elsewhere') {
    const disowned = disownTask({ ...decisionOn(record, deps), taskId, settledBy: 'reconcile' });
    return close(disowned, deps, 'Unconfirmed');
  }
  const now = deps.now();
  if (now.toISOString() < record.deadlineAt) return notYet(record, found.why, caller, deps);
  const outcome = await writeChange(deps.extractions, markTimedOut({ record, now, timings: deps.timings }));
  if (outcome.kind === 'lost') return { kind: 'again', record: outcome.record };
  if (outcome.kind === 'written') deps.journal.count('TimedOut', record);
  // The first read in grace is due later. Another one now would only repeat the read just made.
  const next = outcome.kind === 'written' ? outcome.record.dueAt : undefined;
  return { kind: 'return', result: { kind: 'deferred', record: outcome.record, why: found.why, next } };
};

const reconcileTimedOut = async (
  record: Extraction,
  taskId: string,
  reading: Reading | undefined,
  deps: ReconcileDeps,
): Promise<Step> => {
  const settledAt = record.settledAt ?? record.deadlineAt;
  const isLast = deps.now().toISOString() >= plusSeconds(settledAt, deps.timings.grace);
  const found = await findOutcome(record, taskId, { known: reading, isLast }, deps);
  if (found.kind === 'settled') return found.step;
  if (found.kind === 'too-large') return abandonTooLarge(record, deps);
  if (found.kind === 'linked-elsewhere') {
    const collectionError = 'task-linked-elsewhere';
    return close(closeUncollected({ ...decisionOn(record, deps), collectionError }), deps);
  }
  if (isLast && found.why === endsProcess) return abandonCollection(record, endsProcess, deps);
  if (isLast && found.isHeld !== true) return close(closeAfterGrace(decisionOn(record, deps)), deps);
  return deferUntil(record, nextInGrace(settledAt, deps.now(), deps.timings), found.why, deps);
};

/**
 * When a record in grace is reconciled next: at growing intervals, and at the end of grace. Past it, while an operator's pause
 * holds the last read, with every poll interval.
 */
const nextInGrace = (settledAt: string, now: Date, { pollEvery, grace }: Timings): string => {
  const end = plusSeconds(settledAt, grace);
  if (now.toISOString() >= end) return plusSeconds(now, pollEvery);
  const next = nextReconcileAt(settledAt, now, pollEvery, grace);
  return next < end ? next : end;
};

const abandonTooLarge = (record: Extraction, deps: ReconcileDeps): Promise<Step> =>
  closeOversized(abandonOversized(decisionOn(record, deps)), deps, 'CollectionAbandoned');

const abandonCollection = (record: Extraction, collectionError: string, deps: ReconcileDeps): Promise<Step> =>
  close(closeUncollected({ ...decisionOn(record, deps), collectionError }), deps, 'CollectionAbandoned');

/** Until when an outcome is collected. The first read after it is the last one. */
const collectUntil = ({ settledAt, requestedAt }: Extraction, { timings }: ReconcileDeps): string =>
  plusSeconds(settledAt ?? requestedAt, timings.collectFor);

/**
 * After a failed collection: tried again at growing intervals, by the queue, then by the sweep. Abandoned after the last read.
 */
const retryCollection = async (
  record: Extraction,
  {
    why,
    isLast,
    isHeld = false,
  }: { readonly why: string; readonly isLast: boolean; readonly isHeld?: boolean },
  deps: ReconcileDeps,
): Promise<Step> => {
  if (!isHeld) deps.journal.count('CollectionFailed', record);
  if (isLast && !isHeld) return abandonCollection(record, why, deps);
  const now = deps.now();
  const { settledAt = record.requestedAt } = record;
  const ceiling = isLast ? deps.timings.pollEvery : collectCeiling;
  const next = nextReconcileAt(settledAt, now, deps.timings.pollFirst, ceiling);
  if (delayUntil(next, now) > longestDelaySeconds) deps.journal.count('CollectionDeferred', record);
  return deferUntil(record, next, why, deps);
};

/**
 * Whether the outcome implies that there are results. A later read without results, such as a passing error of the
 * provider, must then not close the record as collected.
 */
const impliesResults = ({ status }: Extraction): boolean => status === 'COMPLETED' || status === 'PARTIAL';

const collect = async (
  record: Extraction,
  taskId: string,
  reading: Reading | undefined,
  deps: ReconcileDeps,
): Promise<Step> => {
  if (record.oversizedAt !== undefined) return abandonTooLarge(record, deps);
  const isLast = deps.now().toISOString() >= collectUntil(record, deps);
  const read =
    reading === undefined
      ? await readProvider(record, taskId, isLast, deps)
      : ({ kind: 'read', reading } as const);
  if (read.kind === 'no-answer') return retryCollection(record, { ...read, isLast }, deps);
  if (read.reading.kind === 'too-large') return abandonTooLarge(record, deps);
  if (read.reading.kind === 'running') {
    return retryCollection(record, { why: 'still-running', isLast }, deps);
  }
  const { taskStatus, results, actionResults, expected } = read.reading;
  if (results === undefined && impliesResults(record)) {
    return retryCollection(record, { why: 'no-results', isLast }, deps);
  }
  if (taskStatus !== record.status) deps.journal.count('StatusDisagreement', record);
  if (!expected) deps.journal.count('UnexpectedResults', record);
  let stored: StoredResults | undefined;
  try {
    if (results !== undefined) stored = await deps.storeResults(record.extractionId, results);
  } catch (error) {
    deps.journal.failure('The results could not be stored.', error, record);
    return retryCollection(record, { why: 'results-not-stored', isLast }, deps);
  }
  const found = defined({ results: stored, actionResults });
  return close(closeCollected({ ...decisionOn(record, deps), found }), deps, 'Collected');
};

/** The next deployment of the newer version continues. Until then the record only stays in the queue. */
const deferUnknown = (record: Extraction, deps: ReconcileDeps): Promise<Step> => {
  deps.journal.count('UnknownRecord', record);
  return deferUntil(record, plusSeconds(deps.now(), longestDelaySeconds), 'unknown-record', deps);
};

const decide = (
  record: Extraction,
  reading: Reading | undefined,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> | Step => {
  const { status, taskId } = record;
  if (record.dueShard !== undefined && !isUnderstood(record)) return deferUnknown(record, deps);
  if (status === 'REQUESTED') return reconcileRequested(record, caller, deps);
  if (status === 'STARTING') return reconcileStarting(record, caller, deps);
  if (record.dueShard === undefined || taskId === undefined) {
    return { kind: 'return', result: { kind: 'closed', record } };
  }
  if (status === 'RUNNING') return reconcileRunning(record, taskId, reading, caller, deps);
  if (status === 'TIMED_OUT') return reconcileTimedOut(record, taskId, reading, deps);
  return collect(record, taskId, reading, deps);
};

/**
 * Decides about a message `due` if the record is not due by this clock. If the message is for this `dueAt`, the clock is
 * behind that of its sender, and the message is sent again. Otherwise another process has moved `dueAt` ahead and sends its
 * own message. To send this one again would start a second chain of messages.
 */
const decideEarly = (record: Extraction, caller: ReconcileCaller, now: Date): ReconcileResult | undefined => {
  const { dueAt } = record;
  if (caller.kind !== 'queue' || caller.cause !== 'due' || dueAt === undefined) return undefined;
  if (new Date(dueAt).getTime() <= now.getTime()) return undefined;
  return caller.dueAt === dueAt
    ? { kind: 'deferred', record, why: 'early', next: dueAt }
    : { kind: 'superseded', record };
};

/** A record has fewer transitions in its life. More lost races than that in a row would be a defect. */
const maxSteps = 10;

/**
 * Advances one extraction as far as possible (design, section 5). The result depends only on the record, the clock, the
 * provider and the caller, so reconciling twice does no harm. Throws what a store throws; the caller then repeats it.
 */
export const reconcile = async (
  extractionId: string,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<ReconcileResult> => {
  let record = await deps.extractions.get(extractionId);
  const early = record === undefined ? undefined : decideEarly(record, caller, deps.now());
  if (early !== undefined) return early;
  let reading: Reading | undefined;
  for (let steps = 0; steps < maxSteps && record !== undefined; steps += 1) {
    const step: Step = await decide(record, reading, caller, deps);
    if (step.kind === 'return') return step.result;
    record = step.record;
    reading = step.reading ?? reading;
  }
  return record === undefined ? { kind: 'gone' } : { kind: 'not-yet', record, why: 'contended' };
};

/**
 * Reconciles, and sends the message for the next time. Without a message, because the pause is longer than a message can
 * wait or because the queue refused it, the sweep finds the record at `dueAt`. Throws as `reconcile`.
 */
export const reconcileAndContinue = async (
  extractionId: string,
  caller: ReconcileCaller,
  deps: ReconcileDeps & { readonly send: SendReconcile },
): Promise<ReconcileResult> => {
  const result = await reconcile(extractionId, caller, deps);
  if (result.kind !== 'deferred' || result.next === undefined) return result;
  const delaySeconds = delayUntil(result.next, deps.now());
  if (delaySeconds > longestDelaySeconds) return result;
  try {
    await deps.send({ extractionId, cause: 'due', dueAt: result.next }, delaySeconds);
  } catch (error) {
    deps.journal.failure('The next reconcile was left to the sweep.', error, result.record);
  }
  return result;
};
