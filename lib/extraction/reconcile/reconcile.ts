import { defined } from '../../defined.ts';
import { isStartStale, plusSeconds } from '../deadlines.ts';
import { delayUntil, longestDelaySeconds, type SendReconcile } from '../reconcile-message.ts';
import { type Extraction, isUnderstood } from '../record.ts';
import { findRequest, goesWithClose, removeRequest, requestDataGone } from '../request-data.ts';
import { decisionOn, markNotStarted, markUnconfirmed } from '../transitions.ts';
import { collect } from './collect.ts';
import { reconcileRunning, reconcileTimedOut } from './find-outcome.ts';
import type { Reading } from './reading.ts';
import {
  close,
  deferUntil,
  notYet,
  type ReconcileCaller,
  type ReconcileDeps,
  type ReconcileResult,
  type Step,
} from './steps.ts';

const reconcileRequested = async (
  record: Extraction,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  const now = deps.now();
  const isAbandoned =
    caller.kind === 'machine' || (caller.kind === 'queue' && caller.cause === 'execution-broken');
  const windowOver = now.toISOString() >= plusSeconds(record.requestedAt, deps.timings.startWindow);
  if (!isAbandoned && !windowOver) return notYet(record, { why: 'not-started-yet' }, caller, deps);
  const hasRequest = (await findRequest(record, deps)) !== undefined;
  const orElse = isAbandoned ? 'start-abandoned' : 'start-window-over';
  // A process that used the item changed the record before, so this change is then refused.
  const reason = hasRequest ? orElse : requestDataGone;
  return close(markNotStarted({ record, reason, now, timings: deps.timings }), deps, 'NotStarted');
};

const reconcileStarting = async (
  record: Extraction,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  if (record.attemptId === undefined || !isStartStale(record, deps.now(), deps.timings)) {
    return notYet(record, { why: 'start-in-progress' }, caller, deps);
  }
  const { attemptId } = record;
  const interrupted = { attemptId, reason: 'start-interrupted', settledBy: 'reconcile' } as const;
  return close(markUnconfirmed({ ...decisionOn(record, deps), ...interrupted }), deps, 'Unconfirmed');
};

/** The next deployment of the newer version continues. Until then the record only stays in the queue. */
const deferUnknown = (record: Extraction, deps: ReconcileDeps): Promise<Step> => {
  deps.telemetry.count('UnknownRecord', record);
  const why = 'unknown-record';
  return deferUntil(record, plusSeconds(deps.now(), longestDelaySeconds), { why }, deps);
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
  if (status === 'TIMED_OUT') return reconcileTimedOut(record, taskId, reading, caller, deps);
  return collect(record, taskId, reading, caller, deps);
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
    if (step.kind === 'return') {
      const { result } = step;
      if (result.kind === 'closed' && goesWithClose(result.record)) await removeRequest(result.record, deps);
      return result;
    }
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
  deps: ReconcileDeps & { readonly send: SendReconcile; readonly sendSlow: SendReconcile },
): Promise<ReconcileResult> => {
  const result = await reconcile(extractionId, caller, deps);
  if (result.kind === 'moved' && caller.kind === 'queue') {
    // If this fails, the message is received again.
    await deps.sendSlow({ extractionId, cause: caller.cause, ...defined({ dueAt: caller.dueAt }) });
    return result;
  }
  if (result.kind !== 'deferred' || result.next === undefined) return result;
  const delaySeconds = delayUntil(result.next, deps.now());
  if (delaySeconds > longestDelaySeconds) return result;
  const send = result.record.readsSlowly === true ? deps.sendSlow : deps.send;
  try {
    await send({ extractionId, cause: 'due', dueAt: result.next }, delaySeconds);
  } catch (error) {
    deps.telemetry.failure('The next reconcile was left to the sweep.', error, result.record);
  }
  return result;
};
