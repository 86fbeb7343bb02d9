import { nextReconcileAt, plusSeconds, type Timings } from '../deadlines.ts';
import { settle, writeProgress } from '../progress.ts';
import {
  type Extraction,
  hasTaskItem,
  hasWebhook,
  isTerminalStatus,
  type TerminalStatus,
} from '../record.ts';
import { removeRequest } from '../request-data.ts';
import { type Task, writeChange } from '../store.ts';
import {
  closeAfterGrace,
  closeUncollected,
  decisionOn,
  disownTask,
  markTimedOut,
  type ReportedOutcome,
  rememberOversized,
  timeOutOversized,
} from '../transitions.ts';
import { abandonCollection, abandonTooLarge } from './collect.ts';
import { readProvider, type Unanswered } from './read-provider.ts';
import type { Reading } from './reading.ts';
import {
  close,
  closeOversized,
  deferUntil,
  notYet,
  type ReconcileCaller,
  type ReconcileDeps,
  type Step,
} from './steps.ts';

/**
 * The item of a task in `Tasks`. A task that start-task did not link is adopted before anything is read or decided. From
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
  | ({ readonly kind: 'none' } & Unanswered)
  | { readonly kind: 'moved'; readonly record: Extraction }
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
  {
    known,
    isLast,
    caller,
  }: { readonly known: Reading | undefined; readonly isLast: boolean; readonly caller: ReconcileCaller },
  deps: ReconcileDeps,
): Promise<OutcomeSearch> => {
  const { extractionId } = record;
  const found = hasTaskItem(record) ? await findOrAdoptTask(record, taskId, deps) : undefined;
  if (found !== undefined && found.task.extractionId !== extractionId) {
    // Counted before any write: this may be a leak, so the alarm must not depend on whether a write succeeds.
    deps.telemetry.count('TaskLinkedElsewhere', record);
    return { kind: 'linked-elsewhere' };
  }
  // start-task would have removed the item after the link.
  if (found?.adopted === true) await removeRequest(record, deps);
  const delivered = found?.task.taskStatus;
  if (delivered !== undefined && isTerminalStatus(delivered)) {
    const reported = { extractionId, taskId, taskStatus: delivered };
    // The delivery came before any extraction was linked to its task.
    const early = found?.adopted ? (['EarlyDelivery'] as const) : [];
    const settled = await settle('reconcile', reported, deps, ...early);
    return { kind: 'settled', step: { kind: 'again', record: settled } };
  }
  if (record.oversizedAt !== undefined || known?.kind === 'too-large') return { kind: 'too-large' };
  const read = await readProvider(record, taskId, { isLast, caller }, deps);
  if (read.kind === 'moved') return read;
  if (read.kind === 'changed') return { kind: 'settled', step: { kind: 'again', record: read.record } };
  if (read.kind === 'no-answer') return { ...read, kind: 'none' };
  const { reading } = read;
  if (reading.kind === 'running') {
    if (!reading.known) deps.telemetry.count('UnknownTaskStatus', record);
    return { kind: 'none', why: 'still-running', isAnswered: true };
  }
  if (reading.taskStatus === undefined) return { kind: 'too-large' };
  // Deliveries settle while the execution polls, too. A read is first only if all five deliveries were lost, or in the
  // moment between the end of a task and its first delivery.
  const missed = hasWebhook(record) ? (['WebhookMissed'] as const) : [];
  const reported = reportedOutcome(record, taskId, reading, reading.taskStatus);
  const settled = await settle('reconcile', reported, deps, ...missed);
  return { kind: 'settled', step: { kind: 'again', record: settled, reading } };
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
  if (record.oversizedAt !== undefined) return notYet(record, { why: 'results-too-large' }, caller, deps);
  const remembered = await writeChange(deps.extractions, rememberOversized({ record, now }));
  return remembered.kind === 'lost'
    ? { kind: 'again', record: remembered.record, reading: { kind: 'too-large' } }
    : notYet(remembered.record, { why: 'results-too-large' }, caller, deps);
};

export const reconcileRunning = async (
  record: Extraction,
  taskId: string,
  reading: Reading | undefined,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  // Grace follows, so that this read need not be the last one.
  const found = await findOutcome(record, taskId, { known: reading, isLast: false, caller }, deps);
  if (found.kind === 'settled') return found.step;
  if (found.kind === 'moved') return { kind: 'return', result: found };
  if (found.kind === 'too-large') return reconcileOversized(record, caller, deps);
  if (found.kind === 'linked-elsewhere') {
    const disowned = disownTask({ ...decisionOn(record, deps), taskId, settledBy: 'reconcile' });
    return close(disowned, deps, 'Unconfirmed');
  }
  const now = deps.now();
  if (now.toISOString() < record.deadlineAt) return notYet(record, found, caller, deps);
  const timedOut = markTimedOut({ record, now, timings: deps.timings });
  const outcome = await writeProgress(timedOut, deps, 'TimedOut');
  if (outcome.kind === 'lost') return { kind: 'again', record: outcome.record };
  // The first read in grace is due later. Another one now would only repeat the read just made.
  const next = outcome.kind === 'written' ? outcome.record.dueAt : undefined;
  return { kind: 'return', result: { kind: 'deferred', record: outcome.record, why: found.why, next } };
};

export const reconcileTimedOut = async (
  record: Extraction,
  taskId: string,
  reading: Reading | undefined,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  const settledAt = record.settledAt ?? record.deadlineAt;
  const isLast = deps.now().toISOString() >= plusSeconds(settledAt, deps.timings.grace);
  const found = await findOutcome(record, taskId, { known: reading, isLast, caller }, deps);
  if (found.kind === 'settled') return found.step;
  if (found.kind === 'moved') return { kind: 'return', result: found };
  if (found.kind === 'too-large') return abandonTooLarge(record, deps);
  if (found.kind === 'linked-elsewhere') {
    const collectionError = 'task-linked-elsewhere';
    return close(closeUncollected({ ...decisionOn(record, deps), collectionError }), deps);
  }
  if (isLast && found.isUnreadable === true) return abandonCollection(record, found.why, deps);
  if (isLast && found.isHeld !== true) return close(closeAfterGrace(decisionOn(record, deps)), deps);
  return deferUntil(record, nextInGrace(settledAt, deps.now(), deps.timings), found, deps);
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
