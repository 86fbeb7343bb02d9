import type { Count, ExtractionMetric } from '../observability/metric-names.ts';
import { ProviderError } from '../provider/transport/errors.ts';
import { applyChange } from './apply-change.ts';
import { isStartStale, nextReconcileAt, plusSeconds, type Timings } from './deadlines.ts';
import type { Reading } from './reading.ts';
import {
  type Extraction,
  hasWebhook,
  isTerminalStatus,
  type StoredResults,
  type TerminalStatus,
} from './record.ts';
import { settle } from './settle.ts';
import type { ExtractionStore, Task, TaskStore } from './store.ts';
import {
  type Change,
  closeAfterGrace,
  closeCollected,
  closeUncollected,
  disownTask,
  giveUpOversized,
  markNotStarted,
  markTimedOut,
  markUnconfirmed,
  type ReportedOutcome,
  rememberOversized,
  reschedule,
  timeOutOversized,
} from './transitions.ts';

/** Who called. The machine retries "not yet" by itself; for everybody else the sweep has to. */
export type ReconcileCaller =
  | { readonly kind: 'machine'; readonly startAbandoned: boolean }
  /** The execution failed, timed out or was stopped: nobody will start this any more. */
  | { readonly kind: 'execution-broken' }
  | { readonly kind: 'sweep' };

export type ReconcileDeps = {
  readonly extractions: ExtractionStore;
  readonly tasks: TaskStore;
  /** Reads the task of a record, as its method demands. */
  readonly read: (record: Extraction, taskId: string) => Promise<Reading>;
  /** Stores the bytes under `{extractionId}/{sha256}.json`; the same bytes twice are one object. */
  readonly storeResults: (extractionId: string, bytes: Uint8Array) => Promise<StoredResults>;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly count: Count;
  /** Told of a failure that is lived with here; for the log, and nothing else. */
  readonly onFailure: (what: 'read' | 'store', error: unknown) => void;
};

export type ReconcileResult =
  | { readonly kind: 'closed'; readonly record: Extraction }
  /** Settled; what is left to do is the sweep's. */
  | { readonly kind: 'deferred'; readonly record: Extraction }
  | { readonly kind: 'not-yet'; readonly record: Extraction; readonly why: string }
  /** The row is gone: erased, or past its retention. */
  | { readonly kind: 'gone' };

/** Longest pause between two tries to collect, in seconds. */
const collectCeiling = 3600;

type Step =
  | { readonly kind: 'return'; readonly reconciled: ReconcileResult }
  /** Decide again from this row; a reading of the provider made on the way is kept. */
  | { readonly kind: 'again'; readonly record: Extraction | undefined; readonly reading?: Reading };

type ReadResult =
  | { readonly kind: 'read'; readonly reading: Reading }
  | { readonly kind: 'no-answer'; readonly why: string };

/**
 * A read that fails, in whatever way, is a poll that did not happen: a secret of ours that cannot be read must
 * not keep a record open beyond its deadline either.
 */
const readProvider = async (record: Extraction, taskId: string, deps: ReconcileDeps): Promise<ReadResult> => {
  try {
    return { kind: 'read', reading: await deps.read(record, taskId) };
  } catch (error) {
    deps.count('ProviderReadFailed');
    deps.onFailure('read', error);
    return { kind: 'no-answer', why: error instanceof ProviderError ? error.name : 'InternalError' };
  }
};

/**
 * Writes a change that closes the record, and counts it unless somebody else had closed it so; or decides again from
 * the row that refused it.
 */
const close = async (
  change: Change,
  deps: ReconcileDeps,
  ...counts: readonly ExtractionMetric[]
): Promise<Step> => {
  const outcome = await applyChange(deps.extractions, change);
  if (outcome.kind === 'lost') return { kind: 'again', record: outcome.record };
  if (outcome.mine) for (const observed of counts) deps.count(observed);
  return { kind: 'return', reconciled: { kind: 'closed', record: outcome.record } };
};

/** Leaves the record to the sweep, from `dueAt` on. */
const deferUntil = async (record: Extraction, dueAt: string, deps: ReconcileDeps): Promise<Extraction> =>
  (await applyChange(deps.extractions, reschedule(record, dueAt))).record ?? record;

/** Nothing can be decided now: the machine's retry comes back by itself, everybody else's is the sweep. */
const notYet = async (
  record: Extraction,
  why: string,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  const seen =
    caller.kind === 'machine'
      ? record
      : await deferUntil(record, plusSeconds(deps.now(), deps.timings.pollEvery), deps);
  return { kind: 'return', reconciled: { kind: 'not-yet', record: seen, why } };
};

const reconcileRequested = async (
  record: Extraction,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  const now = deps.now();
  const isAbandoned =
    caller.kind === 'execution-broken' || (caller.kind === 'machine' && caller.startAbandoned);
  const windowOver = now.toISOString() >= plusSeconds(record.requestedAt, deps.timings.startWindow);
  if (!isAbandoned && !windowOver) return notYet(record, 'not-started-yet', caller, deps);
  const reason = isAbandoned ? 'start-abandoned' : 'start-window-over';
  return close(markNotStarted(record, reason, now, deps.timings), deps, 'NotStarted');
};

const reconcileStarting = async (
  record: Extraction,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  const now = deps.now();
  if (record.attemptId === undefined || !isStartStale(record, now, deps.timings)) {
    return notYet(record, 'start-in-progress', caller, deps);
  }
  const lost = markUnconfirmed(record, record.attemptId, 'start-interrupted', 'reconcile', now, deps.timings);
  return close(lost, deps, 'Unconfirmed');
};

/**
 * The row of a task in `Tasks`. One that start-task did not come to link is adopted, before anything is read or
 * decided: from then on a delivery finds the extraction, however late it comes and whatever was recorded meanwhile.
 */
const findOrAdoptTask = async (
  { extractionId }: Extraction,
  taskId: string,
  deps: ReconcileDeps,
): Promise<{ readonly task: Task; readonly wasLinked: boolean }> => {
  const found = await deps.tasks.get(taskId);
  const wasLinked = found?.extractionId !== undefined;
  const task = wasLinked ? found : await deps.tasks.adopt(taskId, extractionId);
  return { task, wasLinked };
};

type Learned =
  | { readonly kind: 'settled'; readonly step: Step }
  | { readonly kind: 'no-end'; readonly why: string }
  /** It has ended, its results are over the cap, and only a webhook can say how it ended. */
  | { readonly kind: 'too-large' }
  /** The task is linked to another extraction. */
  | { readonly kind: 'anothers' };

/**
 * Settles from what a webhook left in `Tasks`, else from a read: the one that was made on the way here, or another.
 * A body over the cap will not get smaller, so it is not asked for a second time.
 */
const findOutcome = async (
  record: Extraction,
  taskId: string,
  known: Reading | undefined,
  deps: ReconcileDeps,
): Promise<Learned> => {
  const { extractionId } = record;
  const lookup = hasWebhook(record) ? await findOrAdoptTask(record, taskId, deps) : undefined;
  if (lookup !== undefined && lookup.task.extractionId !== extractionId) {
    // Before anything is written: it may be a leak, so the alarm must not depend on who hears of a write.
    deps.count('TaskLinkedElsewhere');
    return { kind: 'anothers' };
  }
  const noticed = lookup?.task.taskStatus;
  if (noticed !== undefined && isTerminalStatus(noticed)) {
    const fact = { extractionId, taskId, taskStatus: noticed };
    // Nobody had linked the task: its delivery found no extraction, and this one finds it.
    const early = lookup?.wasLinked === false ? (['EarlyDelivery'] as const) : [];
    const row = await settle('reconcile', fact, deps, ...early);
    return { kind: 'settled', step: { kind: 'again', record: row } };
  }
  if (record.oversizedAt !== undefined || known?.kind === 'too-large') return { kind: 'too-large' };
  const read = await readProvider(record, taskId, deps);
  if (read.kind === 'no-answer') return { kind: 'no-end', why: read.why };
  const { reading } = read;
  if (reading.kind === 'running') {
    if (!reading.known) deps.count('UnknownTaskStatus');
    return { kind: 'no-end', why: 'still-running' };
  }
  if (reading.taskStatus === undefined) return { kind: 'too-large' };
  // A delivery settles while the machine polls, too. So a read is first where all five were lost, or in the one
  // moment between the end of a task and its first delivery.
  const missed = hasWebhook(record) ? (['WebhookMissed'] as const) : [];
  const row = await settle('reconcile', factOf(record, taskId, reading, reading.taskStatus), deps, ...missed);
  return { kind: 'settled', step: { kind: 'again', record: row, reading } };
};

const factOf = (
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

/** How a v2 task with results over the cap ended: a webhook may say so until the deadline, and a read never. */
const reconcileOversized = async (
  record: Extraction,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  const now = deps.now();
  const reading = { kind: 'too-large' } as const;
  if (now.toISOString() >= record.deadlineAt) {
    const closed = await close(
      timeOutOversized(record, now, deps.timings),
      deps,
      'TimedOut',
      'CollectionAbandoned',
    );
    return closed.kind === 'again' ? { ...closed, reading } : closed;
  }
  if (record.oversizedAt !== undefined) return notYet(record, 'results-too-large', caller, deps);
  const remembered = await applyChange(deps.extractions, rememberOversized(record, now));
  return remembered.kind === 'lost'
    ? { kind: 'again', record: remembered.record, reading }
    : notYet(remembered.record, 'results-too-large', caller, deps);
};

const reconcileRunning = async (
  record: Extraction,
  taskId: string,
  reading: Reading | undefined,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  const found = await findOutcome(record, taskId, reading, deps);
  if (found.kind === 'settled') return found.step;
  if (found.kind === 'too-large') return reconcileOversized(record, caller, deps);
  if (found.kind === 'anothers') {
    const disowned = disownTask(record, taskId, 'reconcile', deps.now(), deps.timings);
    return close(disowned, deps, 'Unconfirmed');
  }
  const now = deps.now();
  if (now.toISOString() < record.deadlineAt) return notYet(record, found.why, caller, deps);
  const outcome = await applyChange(deps.extractions, markTimedOut(record, now, deps.timings));
  if (outcome.kind === 'lost') return { kind: 'again', record: outcome.record };
  if (outcome.mine) deps.count('TimedOut');
  // The first read in grace is due later; looking now again would be the read just made.
  return { kind: 'return', reconciled: { kind: 'deferred', record: outcome.record } };
};

const reconcileTimedOut = async (
  record: Extraction,
  taskId: string,
  reading: Reading | undefined,
  deps: ReconcileDeps,
): Promise<Step> => {
  const found = await findOutcome(record, taskId, reading, deps);
  if (found.kind === 'settled') return found.step;
  if (found.kind === 'too-large') return giveUpTooLarge(record, deps);
  if (found.kind === 'anothers') {
    const givenUp = closeUncollected(record, 'task-linked-elsewhere', deps.now(), deps.timings);
    return close(givenUp, deps);
  }
  const now = deps.now();
  const settledAt = record.settledAt ?? record.deadlineAt;
  const graceOver = plusSeconds(settledAt, deps.timings.grace);
  if (now.toISOString() >= graceOver) return close(closeAfterGrace(record, now, deps.timings), deps);
  const next = nextReconcileAt(settledAt, now, deps.timings.pollEvery, deps.timings.grace);
  const row = await deferUntil(record, next < graceOver ? next : graceOver, deps);
  return { kind: 'return', reconciled: { kind: 'deferred', record: row } };
};

/** What is over the cap is not asked for again, by whoever the row that refused this leads to either. */
const giveUpTooLarge = async (record: Extraction, deps: ReconcileDeps): Promise<Step> => {
  const closed = await close(giveUpOversized(record, deps.now(), deps.timings), deps, 'CollectionAbandoned');
  return closed.kind === 'again' ? { ...closed, reading: { kind: 'too-large' } } : closed;
};

const abandonCollection = (record: Extraction, why: string, deps: ReconcileDeps): Promise<Step> =>
  close(closeUncollected(record, why, deps.now(), deps.timings), deps, 'CollectionAbandoned');

/** A collection that failed: tried again by the machine, then by the sweep, then abandoned and said so. */
const retryCollection = async (
  record: Extraction,
  why: string,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  deps.count('CollectionFailed');
  const now = deps.now();
  const settledAt = record.settledAt ?? record.requestedAt;
  if (now.toISOString() >= plusSeconds(settledAt, deps.timings.collectFor)) {
    return abandonCollection(record, why, deps);
  }
  // Not until `dueAt`, which a sweep that looks meanwhile moves ahead.
  const machineUntil = plusSeconds(settledAt, deps.timings.collectInMachine);
  if (caller.kind === 'machine' && now.toISOString() < machineUntil) {
    return { kind: 'return', reconciled: { kind: 'not-yet', record, why } };
  }
  deps.count('CollectionDeferred');
  const next = nextReconcileAt(settledAt, now, deps.timings.pollEvery, collectCeiling);
  const row = await deferUntil(record, next, deps);
  return { kind: 'return', reconciled: { kind: 'deferred', record: row } };
};

/**
 * An outcome that says there are data. A later read without any, such as an error of the provider's that passes,
 * must not close the record as if they had been collected.
 */
const promisesData = ({ status }: Extraction): boolean => status === 'COMPLETED' || status === 'PARTIAL';

const collect = async (
  record: Extraction,
  taskId: string,
  reading: Reading | undefined,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  if (record.oversizedAt !== undefined) return giveUpTooLarge(record, deps);
  const read =
    reading === undefined ? await readProvider(record, taskId, deps) : ({ kind: 'read', reading } as const);
  if (read.kind === 'no-answer') return retryCollection(record, read.why, caller, deps);
  if (read.reading.kind === 'too-large') return giveUpTooLarge(record, deps);
  if (read.reading.kind === 'running') return retryCollection(record, 'still-running', caller, deps);
  const { taskStatus, results, actionResults, expected } = read.reading;
  if (results === undefined && promisesData(record)) {
    return retryCollection(record, 'no-results', caller, deps);
  }
  if (taskStatus !== record.status) deps.count('StatusDisagreement');
  if (!expected) deps.count('UnexpectedResults');
  let stored: StoredResults | undefined;
  try {
    if (results !== undefined) stored = await deps.storeResults(record.extractionId, results);
  } catch (error) {
    deps.onFailure('store', error);
    return retryCollection(record, 'results-not-stored', caller, deps);
  }
  const found = {
    ...(stored === undefined ? {} : { results: stored }),
    ...(actionResults === undefined ? {} : { actionResults }),
  };
  return close(closeCollected(record, found, deps.now(), deps.timings), deps, 'Collected');
};

const takeStep = (
  record: Extraction,
  reading: Reading | undefined,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> | Step => {
  const { status, taskId } = record;
  if (status === 'REQUESTED') return reconcileRequested(record, caller, deps);
  if (status === 'STARTING') return reconcileStarting(record, caller, deps);
  if (record.dueShard === undefined || taskId === undefined) {
    return { kind: 'return', reconciled: { kind: 'closed', record } };
  }
  if (status === 'RUNNING') return reconcileRunning(record, taskId, reading, caller, deps);
  if (status === 'TIMED_OUT') return reconcileTimedOut(record, taskId, reading, deps);
  return collect(record, taskId, reading, caller, deps);
};

/** More lost races in a row than there are moves in the life of a record means that something is wrong. */
const maxSteps = 10;

/**
 * Brings one extraction as far as the facts allow (design, section 5): a function of the record, the clock,
 * the provider and who called, the same whatever woke it and however often. Throws what a dependency of ours
 * throws; whoever calls it calls again.
 */
export const reconcile = async (
  extractionId: string,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<ReconcileResult> => {
  let record = await deps.extractions.get(extractionId);
  let reading: Reading | undefined;
  for (let steps = 0; steps < maxSteps && record !== undefined; steps += 1) {
    const step: Step = await takeStep(record, reading, caller, deps);
    if (step.kind === 'return') return step.reconciled;
    record = step.record;
    reading = step.reading ?? reading;
  }
  return record === undefined ? { kind: 'gone' } : { kind: 'not-yet', record, why: 'contended' };
};
