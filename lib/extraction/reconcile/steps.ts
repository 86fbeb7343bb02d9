import type { ExtractionMetric } from '../../observability/metric-names.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { nextReconcileAt, plusSeconds, type Timings } from '../deadlines.ts';
import { writeProgress } from '../progress.ts';
import type { ReconcileCause } from '../reconcile-message.ts';
import { type Extraction, hasWebhook, type StoredResults } from '../record.ts';
import { extendedExpiry, findRequest, mayExpireBefore } from '../request-data.ts';
import { type ExtractionStore, type RequestStore, type TaskStore, writeChange } from '../store.ts';
import { type Change, reschedule } from '../transitions.ts';
import type { Reading } from './reading.ts';

/**
 * Who called. The machine calls once it has no start to wait for or to retry, and retries "not yet" by itself. For every
 * other caller, the queue continues, or the sweep.
 * `afterFailure`: an earlier invocation for the same message, or in the same execution, failed or ended its process.
 * `isSlow`: the message is of the slow queue.
 */
export type ReconcileCaller =
  | {
      readonly kind: 'machine';
      readonly afterFailure?: boolean;
      /** Why the last start was not accepted. */
      readonly lastProblem?: string;
    }
  | {
      readonly kind: 'queue';
      readonly cause: ReconcileCause;
      readonly dueAt?: string;
      readonly afterFailure?: boolean;
      readonly isSlow?: boolean;
    }
  | { readonly kind: 'operator' };

/**
 * Whether reads are brief. The consumers of the reconcile queue are shared by all extractions, so a read that hangs must not
 * hold one for long. The slow queue has consumers of its own.
 */
export const readsBriefly = (caller: ReconcileCaller): boolean =>
  caller.kind === 'queue' && caller.isSlow !== true;

export type ReconcileDeps = {
  readonly extractions: ExtractionStore;
  readonly tasks: TaskStore;
  readonly requests: RequestStore;
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
  readonly telemetry: Telemetry;
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
  /** The slow queue continues with the same message. */
  | { readonly kind: 'moved'; readonly record: Extraction }
  /** To the machine only, which retries. */
  | { readonly kind: 'not-yet'; readonly record: Extraction; readonly why: string }
  /** The message is for an earlier `dueAt`. The process that has moved it ahead continues. */
  | { readonly kind: 'superseded'; readonly record: Extraction }
  /** There is no record: it was erased, or its retention is over. */
  | { readonly kind: 'gone' };

export type Step =
  | { readonly kind: 'return'; readonly result: ReconcileResult }
  /** Decide again from this record. A reading that was made on the way is used again. */
  | { readonly kind: 'again'; readonly record: Extraction | undefined; readonly reading?: Reading };

/**
 * Writes a change that closes the record. Counts `metrics` unless another process had closed it in the same way. If the
 * record refuses the change, the decision is made again.
 */
export const close = async (
  change: Change,
  deps: ReconcileDeps,
  ...metrics: readonly ExtractionMetric[]
): Promise<Step> => {
  const { kind, record } = await writeProgress(change, deps, ...metrics);
  if (kind === 'lost') return { kind: 'again', record };
  return { kind: 'return', result: { kind: 'closed', record } };
};

/** Keeps the item of the request until the record is reconciled again. */
const keepRequest = async (record: Extraction, dueAt: string, deps: ReconcileDeps): Promise<void> => {
  if (!mayExpireBefore(dueAt, record)) return;
  try {
    const item = await findRequest(record, deps);
    const expiry = item === undefined ? undefined : extendedExpiry(item, dueAt);
    if (expiry !== undefined) await deps.requests.extend(record.requestId, expiry);
  } catch (error) {
    deps.telemetry.failure('The expiry of a request could not be moved.', error, record);
  }
};

/** Why a record is left for later. `isAnswered`: whether a read was answered; absent if none was made. */
export type Waiting = { readonly why: string; readonly isAnswered?: boolean };

/** Sets `dueAt`. Only the process that has written it sends the next message. */
export const deferUntil = async (
  record: Extraction,
  dueAt: string,
  { why, isAnswered }: Waiting,
  deps: ReconcileDeps,
): Promise<Step> => {
  // It has a message for this time already.
  if (record.dueAt === dueAt) {
    return { kind: 'return', result: { kind: 'deferred', record, why, next: undefined } };
  }
  await keepRequest(record, dueAt, deps);
  const readsSlowly = isAnswered === undefined ? undefined : !isAnswered;
  const outcome = await writeChange(deps.extractions, reschedule({ record, dueAt, readsSlowly }));
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
export const notYet = async (
  record: Extraction,
  waiting: Waiting,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  const isPolledByQueue = record.status === 'RUNNING' && !hasWebhook(record);
  return caller.kind === 'machine' && !isPolledByQueue
    ? { kind: 'return', result: { kind: 'not-yet', record, why: waiting.why } }
    : deferUntil(record, nextPollAt(record, deps), waiting, deps);
};

/** Closes, and keeps the reading for the next decision if the record refuses, so that nothing is downloaded again. */
export const closeOversized = async (
  change: Change,
  deps: ReconcileDeps,
  ...metrics: readonly ExtractionMetric[]
): Promise<Step> => {
  const step = await close(change, deps, ...metrics);
  return step.kind === 'again' ? { ...step, reading: { kind: 'too-large' } } : step;
};
