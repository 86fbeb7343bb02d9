import { applyChange } from './apply-change.ts';
import type { Timings } from './deadlines.ts';
import type { Journal } from './journal.ts';
import { isTerminalStatus, type TerminalStatus } from './record.ts';
import { settle } from './settle.ts';
import type { ExtractionStore, TaskStore } from './store.ts';
import { reschedule } from './transitions.ts';

/** The answer of Step Functions to a callback token. A throttle or a 5xx, which passes, is thrown instead. */
export type WakeOutcome =
  | 'woken'
  /** `TaskTimedOut` or `TaskDoesNotExist`: the machine polls, or has ended. */
  | 'gone'
  | 'invalid-token';

export type RecordDeliveryDeps = {
  readonly extractions: ExtractionStore;
  readonly tasks: TaskStore;
  readonly wake: (callbackToken: string, extractionId: string) => Promise<WakeOutcome>;
  readonly now: () => Date;
  readonly timings: Pick<Timings, 'collectInMachine'>;
  readonly journal: Journal;
};

export type RecordedDelivery =
  /** No extraction is linked to the task: an early delivery or an orphan delivery. Both are stored. */
  | { readonly kind: 'stored' }
  | { readonly kind: 'recorded'; readonly extractionId: string; readonly wake: WakeOutcome | 'no-token' };

/**
 * Notifies `Tasks` of the final status of a verified delivery, settles its extraction, and wakes the machine (design,
 * section 4). In this order, the next delivery or the poll repairs a crash after any step. Throws what a dependency
 * throws; the caller then answers 5xx, and the provider delivers again.
 */
export const recordDelivery = async (
  delivery: { readonly taskId: string; readonly taskStatus: TerminalStatus },
  deps: RecordDeliveryDeps,
): Promise<RecordedDelivery> => {
  const { taskId } = delivery;
  const task = await deps.tasks.notify({ ...delivery, notifiedAt: deps.now().toISOString() });
  const { extractionId, callbackToken } = task;
  if (extractionId === undefined) {
    // Counted with every delivery and not only with the first, which may have ended between storing and counting.
    // docs/operations.md, "How orphan deliveries are counted", describes the effect on the alarm.
    deps.journal.count('UnlinkedDelivery', delivery);
    return { kind: 'stored' };
  }

  // The first stored status is the outcome. A later, different one is only counted.
  const first =
    task.taskStatus !== undefined && isTerminalStatus(task.taskStatus) ? task.taskStatus : undefined;
  const taskStatus = first ?? delivery.taskStatus;
  if (taskStatus !== delivery.taskStatus) deps.journal.count('StatusDisagreement', delivery);
  const row = await settle('webhook', { extractionId, taskId, taskStatus }, deps);
  // An erasure removes the link before the record, so this record was lost. The provider need not know.
  if (row === undefined) deps.journal.count('DeliveryWithoutRecord', delivery);
  const wake = callbackToken === undefined ? 'no-token' : await deps.wake(callbackToken, extractionId);
  if (wake === 'invalid-token') deps.journal.count('InvalidCallbackToken', delivery);
  const now = deps.now().toISOString();
  if (wake !== 'woken' && row?.dueAt !== undefined && row.dueAt > now) {
    // No machine will collect the results, so the next sweep does. If this write is lost, a reconcile has just run.
    await applyChange(deps.extractions, reschedule(row, now));
  }
  return { kind: 'recorded', extractionId, wake };
};
