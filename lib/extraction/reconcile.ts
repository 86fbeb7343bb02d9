import { ProviderError } from '../provider/errors.ts';
import { applyChange } from './apply-change.ts';
import { isAnnounced } from './is-announced.ts';
import { isAttemptDead } from './is-attempt-dead.ts';
import type { Observe, Observed } from './observed.ts';
import type { Reading } from './reading.ts';
import { type Extraction, isTerminalStatus, type StoredResults, type TerminalStatus } from './record.ts';
import { settleBy } from './settle-by.ts';
import type { ExtractionStore, Task, TaskStore } from './store.ts';
import { nextLook, plusSeconds, type Timings } from './timings.ts';
import {
  type Change,
  collected,
  disownTask,
  endGrace,
  giveUpCollecting,
  giveUpOversized,
  giveUpStarting,
  lookAgain,
  loseTrack,
  rememberOversized,
  type SettledFact,
  timeOut,
  timeOutOversized,
} from './transitions.ts';

/** Who called. The machine retries "not yet" by itself; for everybody else the sweep has to. */
export type Situation =
  | { readonly caller: 'machine'; readonly startGaveUp: boolean }
  /** The execution failed, timed out or was stopped: nobody will start this any more. */
  | { readonly caller: 'execution-broken' }
  | { readonly caller: 'sweep' };

export type ReconcileDeps = {
  readonly extractions: ExtractionStore;
  readonly tasks: TaskStore;
  /** Reads the task of a record, as its method demands. */
  readonly read: (record: Extraction, taskId: string) => Promise<Reading>;
  /** Stores the bytes under `{extractionId}/{sha256}.json`; the same bytes twice are one object. */
  readonly storeResults: (extractionId: string, bytes: Uint8Array) => Promise<StoredResults>;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly observe: Observe;
  /** Told of a failure that is lived with here; for the log, and nothing else. */
  readonly onFailure: (what: 'read' | 'store', error: unknown) => void;
};

export type Reconciled =
  | { readonly kind: 'closed'; readonly record: Extraction }
  /** Settled; what is left to do is the sweep's. */
  | { readonly kind: 'handed-over'; readonly record: Extraction }
  | { readonly kind: 'not-yet'; readonly record: Extraction; readonly why: string }
  /** The row is gone: erased, or past its retention. */
  | { readonly kind: 'gone' };

/** Longest pause between two tries to collect, in seconds. */
const collectCeiling = 3600;

type Step =
  | { readonly kind: 'return'; readonly reconciled: Reconciled }
  /** Decide again from this row; a reading of the provider made on the way is kept. */
  | { readonly kind: 'again'; readonly record: Extraction | undefined; readonly reading?: Reading };

type Asked =
  | { readonly kind: 'read'; readonly reading: Reading }
  | { readonly kind: 'no-answer'; readonly why: string };

/**
 * A read that fails, in whatever way, is a poll that did not happen: a secret of ours that cannot be read must
 * not keep a record open beyond its deadline either.
 */
const ask = async (record: Extraction, taskId: string, deps: ReconcileDeps): Promise<Asked> => {
  try {
    return { kind: 'read', reading: await deps.read(record, taskId) };
  } catch (error) {
    deps.observe('PollWithoutAnswer');
    deps.onFailure('read', error);
    return { kind: 'no-answer', why: error instanceof ProviderError ? error.name : 'OwnFailure' };
  }
};

/**
 * Writes a change that closes the record, and counts it unless somebody else had closed it so; or decides again from
 * the row that refused it.
 */
const close = async (change: Change, deps: ReconcileDeps, ...counts: readonly Observed[]): Promise<Step> => {
  const outcome = await applyChange(deps.extractions, change);
  if (outcome.kind === 'lost') return { kind: 'again', record: outcome.record };
  if (outcome.mine) for (const observed of counts) deps.observe(observed);
  return { kind: 'return', reconciled: { kind: 'closed', record: outcome.record } };
};

/** Leaves the record to the sweep, from `openUntil` on. */
const handOver = async (record: Extraction, openUntil: string, deps: ReconcileDeps): Promise<Extraction> =>
  (await applyChange(deps.extractions, lookAgain(record, openUntil))).record ?? record;

/** Nothing can be decided now: the machine's retry comes back by itself, everybody else's is the sweep. */
const notYet = async (
  record: Extraction,
  why: string,
  situation: Situation,
  deps: ReconcileDeps,
): Promise<Step> => {
  const seen =
    situation.caller === 'machine'
      ? record
      : await handOver(record, plusSeconds(deps.now(), deps.timings.pollEvery), deps);
  return { kind: 'return', reconciled: { kind: 'not-yet', record: seen, why } };
};

const reconcileRequested = async (
  record: Extraction,
  situation: Situation,
  deps: ReconcileDeps,
): Promise<Step> => {
  const now = deps.now();
  const gaveUp =
    situation.caller === 'execution-broken' || (situation.caller === 'machine' && situation.startGaveUp);
  const windowOver = now.toISOString() >= plusSeconds(record.requestedAt, deps.timings.startWindow);
  if (!gaveUp && !windowOver) return notYet(record, 'not-started-yet', situation, deps);
  const reason = gaveUp ? 'start-given-up' : 'start-window-over';
  return close(giveUpStarting(record, reason, now, deps.timings), deps, 'NotStarted');
};

const reconcileStarting = async (
  record: Extraction,
  situation: Situation,
  deps: ReconcileDeps,
): Promise<Step> => {
  const now = deps.now();
  if (record.attemptId === undefined || !isAttemptDead(record, now, deps.timings)) {
    return notYet(record, 'start-in-progress', situation, deps);
  }
  const lost = loseTrack(record, record.attemptId, 'attempt-died', 'reconcile', now, deps.timings);
  return close(lost, deps, 'Unconfirmed');
};

/**
 * The row of a task in `Tasks`. One that start-task did not come to link is adopted, before anything is read or
 * decided: from then on a delivery finds the extraction, however late it comes and whatever was recorded meanwhile.
 */
const lookIntoTasks = async (
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
const learnEnd = async (
  record: Extraction,
  taskId: string,
  known: Reading | undefined,
  deps: ReconcileDeps,
): Promise<Learned> => {
  const { extractionId } = record;
  const looked = isAnnounced(record) ? await lookIntoTasks(record, taskId, deps) : undefined;
  if (looked !== undefined && looked.task.extractionId !== extractionId) {
    // Before anything is written: it may be a leak, so the alarm must not depend on who hears of a write.
    deps.observe('TaskLinkedElsewhere');
    return { kind: 'anothers' };
  }
  const noticed = looked?.task.taskStatus;
  if (noticed !== undefined && isTerminalStatus(noticed)) {
    const fact = { extractionId, taskId, taskStatus: noticed };
    // Nobody had linked the task: its delivery found no extraction, and this one finds it.
    const early = looked?.wasLinked === false ? (['EarlyDelivery'] as const) : [];
    const row = await settleBy('reconcile', fact, deps, ...early);
    return { kind: 'settled', step: { kind: 'again', record: row } };
  }
  if (record.oversizedAt !== undefined || known?.kind === 'too-large') return { kind: 'too-large' };
  const asked = await ask(record, taskId, deps);
  if (asked.kind === 'no-answer') return { kind: 'no-end', why: asked.why };
  const { reading } = asked;
  if (reading.kind === 'running') {
    if (!reading.known) deps.observe('UnknownTaskStatus');
    return { kind: 'no-end', why: 'still-running' };
  }
  if (reading.taskStatus === undefined) return { kind: 'too-large' };
  // A delivery settles while the machine polls, too. So a read is first where all five were lost, or in the one
  // moment between the end of a task and its first delivery.
  const missed = isAnnounced(record) ? (['WebhookMissed'] as const) : [];
  const row = await settleBy(
    'reconcile',
    factOf(record, taskId, reading, reading.taskStatus),
    deps,
    ...missed,
  );
  return { kind: 'settled', step: { kind: 'again', record: row, reading } };
};

const factOf = (
  { extractionId }: Extraction,
  taskId: string,
  reading: Exclude<Reading, { kind: 'running' }>,
  taskStatus: TerminalStatus,
): SettledFact => ({
  extractionId,
  taskId,
  taskStatus,
  ...(reading.kind === 'ended' && reading.reason !== undefined ? { reason: reading.reason } : {}),
  ...(reading.kind === 'too-large' ? { oversized: true } : {}),
});

/** How a v2 task with results over the cap ended: a webhook may say so until the deadline, and a read never. */
const reconcileOversized = async (
  record: Extraction,
  situation: Situation,
  deps: ReconcileDeps,
): Promise<Step> => {
  const now = deps.now();
  const reading = { kind: 'too-large' } as const;
  if (now.toISOString() >= record.deadlineAt) {
    const closed = await close(
      timeOutOversized(record, now, deps.timings),
      deps,
      'TimedOut',
      'CollectionGivenUp',
    );
    return closed.kind === 'again' ? { ...closed, reading } : closed;
  }
  if (record.oversizedAt !== undefined) return notYet(record, 'results-too-large', situation, deps);
  const remembered = await applyChange(deps.extractions, rememberOversized(record, now));
  return remembered.kind === 'lost'
    ? { kind: 'again', record: remembered.record, reading }
    : notYet(remembered.record, 'results-too-large', situation, deps);
};

const reconcileRunning = async (
  record: Extraction,
  taskId: string,
  reading: Reading | undefined,
  situation: Situation,
  deps: ReconcileDeps,
): Promise<Step> => {
  const learned = await learnEnd(record, taskId, reading, deps);
  if (learned.kind === 'settled') return learned.step;
  if (learned.kind === 'too-large') return reconcileOversized(record, situation, deps);
  if (learned.kind === 'anothers') {
    const disowned = disownTask(record, taskId, 'reconcile', deps.now(), deps.timings);
    return close(disowned, deps, 'Unconfirmed');
  }
  const now = deps.now();
  if (now.toISOString() < record.deadlineAt) return notYet(record, learned.why, situation, deps);
  const outcome = await applyChange(deps.extractions, timeOut(record, now, deps.timings));
  if (outcome.kind === 'lost') return { kind: 'again', record: outcome.record };
  if (outcome.mine) deps.observe('TimedOut');
  // The first read in grace is due later; looking now again would be the read just made.
  return { kind: 'return', reconciled: { kind: 'handed-over', record: outcome.record } };
};

const reconcileTimedOut = async (
  record: Extraction,
  taskId: string,
  reading: Reading | undefined,
  deps: ReconcileDeps,
): Promise<Step> => {
  const learned = await learnEnd(record, taskId, reading, deps);
  if (learned.kind === 'settled') return learned.step;
  if (learned.kind === 'too-large') return giveUpTooLarge(record, deps);
  if (learned.kind === 'anothers') {
    const givenUp = giveUpCollecting(record, 'task-linked-elsewhere', deps.now(), deps.timings);
    return close(givenUp, deps);
  }
  const now = deps.now();
  const settledAt = record.settledAt ?? record.deadlineAt;
  const graceOver = plusSeconds(settledAt, deps.timings.grace);
  if (now.toISOString() >= graceOver) return close(endGrace(record, now, deps.timings), deps);
  const next = nextLook(settledAt, now, deps.timings.pollEvery, deps.timings.grace);
  const row = await handOver(record, next < graceOver ? next : graceOver, deps);
  return { kind: 'return', reconciled: { kind: 'handed-over', record: row } };
};

/** What is over the cap is not asked for again, by whoever the row that refused this leads to either. */
const giveUpTooLarge = async (record: Extraction, deps: ReconcileDeps): Promise<Step> => {
  const closed = await close(giveUpOversized(record, deps.now(), deps.timings), deps, 'CollectionGivenUp');
  return closed.kind === 'again' ? { ...closed, reading: { kind: 'too-large' } } : closed;
};

const giveUp = (record: Extraction, why: string, deps: ReconcileDeps): Promise<Step> =>
  close(giveUpCollecting(record, why, deps.now(), deps.timings), deps, 'CollectionGivenUp');

/** A collection that failed: tried again by the machine, then by the sweep, then given up and said so. */
const collectLater = async (
  record: Extraction,
  why: string,
  situation: Situation,
  deps: ReconcileDeps,
): Promise<Step> => {
  deps.observe('CollectionFailed');
  const now = deps.now();
  const settledAt = record.settledAt ?? record.requestedAt;
  if (now.toISOString() >= plusSeconds(settledAt, deps.timings.collectFor)) {
    return giveUp(record, why, deps);
  }
  // Not until `openUntil`, which a sweep that looks meanwhile moves ahead.
  const machineUntil = plusSeconds(settledAt, deps.timings.collectInMachine);
  if (situation.caller === 'machine' && now.toISOString() < machineUntil) {
    return { kind: 'return', reconciled: { kind: 'not-yet', record, why } };
  }
  deps.observe('CollectionPutOff');
  const next = nextLook(settledAt, now, deps.timings.pollEvery, collectCeiling);
  const row = await handOver(record, next, deps);
  return { kind: 'return', reconciled: { kind: 'handed-over', record: row } };
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
  situation: Situation,
  deps: ReconcileDeps,
): Promise<Step> => {
  if (record.oversizedAt !== undefined) return giveUpTooLarge(record, deps);
  const asked =
    reading === undefined ? await ask(record, taskId, deps) : ({ kind: 'read', reading } as const);
  if (asked.kind === 'no-answer') return collectLater(record, asked.why, situation, deps);
  if (asked.reading.kind === 'too-large') return giveUpTooLarge(record, deps);
  if (asked.reading.kind === 'running') return collectLater(record, 'still-running', situation, deps);
  const { taskStatus, results, actionResults, expected } = asked.reading;
  if (results === undefined && promisesData(record)) {
    return collectLater(record, 'no-results', situation, deps);
  }
  if (taskStatus !== record.status) deps.observe('StatusDisagreement');
  if (!expected) deps.observe('UnexpectedResults');
  let stored: StoredResults | undefined;
  try {
    if (results !== undefined) stored = await deps.storeResults(record.extractionId, results);
  } catch (error) {
    deps.onFailure('store', error);
    return collectLater(record, 'results-not-stored', situation, deps);
  }
  const found = {
    ...(stored === undefined ? {} : { results: stored }),
    ...(actionResults === undefined ? {} : { actionResults }),
  };
  return close(collected(record, found, deps.now(), deps.timings), deps, 'Collected');
};

const takeStep = (
  record: Extraction,
  reading: Reading | undefined,
  situation: Situation,
  deps: ReconcileDeps,
): Promise<Step> | Step => {
  const { status, taskId } = record;
  if (status === 'REQUESTED') return reconcileRequested(record, situation, deps);
  if (status === 'STARTING') return reconcileStarting(record, situation, deps);
  if (record.open === undefined || taskId === undefined) {
    return { kind: 'return', reconciled: { kind: 'closed', record } };
  }
  if (status === 'RUNNING') return reconcileRunning(record, taskId, reading, situation, deps);
  if (status === 'TIMED_OUT') return reconcileTimedOut(record, taskId, reading, deps);
  return collect(record, taskId, reading, situation, deps);
};

/** More lost races in a row than there are moves in the life of a record means that something is wrong. */
const mostSteps = 10;

/**
 * Brings one extraction as far as the facts allow (design, section 5): a function of the record, the clock,
 * the provider and who called, the same whatever woke it and however often. Throws what a dependency of ours
 * throws; whoever calls it calls again.
 */
export const reconcile = async (
  extractionId: string,
  situation: Situation,
  deps: ReconcileDeps,
): Promise<Reconciled> => {
  let record = await deps.extractions.get(extractionId);
  let reading: Reading | undefined;
  for (let steps = 0; steps < mostSteps && record !== undefined; steps += 1) {
    const step: Step = await takeStep(record, reading, situation, deps);
    if (step.kind === 'return') return step.reconciled;
    record = step.record;
    reading = step.reading ?? reading;
  }
  return record === undefined ? { kind: 'gone' } : { kind: 'not-yet', record, why: 'contended' };
};
