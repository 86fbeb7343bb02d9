import type { Count } from '../observability/metric-names.ts';
import { applyChange } from './apply-change.ts';
import type { Timings } from './deadlines.ts';
import { isTerminalStatus, type TerminalStatus } from './record.ts';
import { settle } from './settle.ts';
import type { ExtractionStore, TaskStore } from './store.ts';
import { reschedule } from './transitions.ts';

/** What Step Functions said to a task token. Anything passing, a throttle or a 5xx, is thrown instead. */
export type WakeOutcome =
  | 'woken'
  /** `TaskTimedOut` or `TaskDoesNotExist`: the machine is polling, or gone. */
  | 'gone'
  | 'invalid-token';

export type RecordDeliveryDeps = {
  readonly extractions: ExtractionStore;
  readonly tasks: TaskStore;
  readonly wake: (callbackToken: string, extractionId: string) => Promise<WakeOutcome>;
  readonly now: () => Date;
  readonly timings: Pick<Timings, 'collectInMachine'>;
  readonly count: Count;
};

export type RecordedDelivery =
  /** Nobody is linked to the task: it is early, or an orphan. Stored either way. */
  | { readonly kind: 'stored' }
  | { readonly kind: 'recorded'; readonly extractionId: string; readonly wake: WakeOutcome | 'no-token' };

/**
 * W: stores the terminal status of a verified delivery, settles the extraction it belongs to and wakes its
 * machine, in this order, so that a crash after any step is healed by the next delivery or by the poll
 * (design, section 4). Throws what a dependency throws; the caller answers 5xx and the provider delivers again.
 */
export const recordDelivery = async (
  delivery: { readonly taskId: string; readonly taskStatus: TerminalStatus },
  deps: RecordDeliveryDeps,
): Promise<RecordedDelivery> => {
  const { taskId } = delivery;
  const task = await deps.tasks.notify({ ...delivery, notifiedAt: deps.now().toISOString() });
  const { extractionId, callbackToken } = task;
  if (extractionId === undefined) {
    // With every delivery, not the first alone: one that dies between storing and counting is made again, and an
    // orphan must not stay silent for that. What was answered in time is not delivered again, so few count
    // twice; what that does to the alarm is described in docs/operations.md, "How orphan deliveries are counted".
    deps.count('UnlinkedDelivery');
    return { kind: 'stored' };
  }

  // The first status that was stored is the one that counts; a later, different one is only counted.
  const first =
    task.taskStatus !== undefined && isTerminalStatus(task.taskStatus) ? task.taskStatus : undefined;
  const taskStatus = first ?? delivery.taskStatus;
  if (taskStatus !== delivery.taskStatus) deps.count('StatusDisagreement');
  const row = await settle('webhook', { extractionId, taskId, taskStatus }, deps);
  // Whoever erases an extraction removes the link first, so this is a loss, and the provider must not see it.
  if (row === undefined) deps.count('DeliveryWithoutRecord');
  const wake = callbackToken === undefined ? 'no-token' : await deps.wake(callbackToken, extractionId);
  if (wake === 'invalid-token') deps.count('InvalidCallbackToken');
  const now = deps.now().toISOString();
  if (wake !== 'woken' && row?.dueAt !== undefined && row.dueAt > now) {
    // No machine to collect the results: the next sweep does. Losing this race means that somebody just looked.
    await applyChange(deps.extractions, reschedule(row, now));
  }
  return { kind: 'recorded', extractionId, wake };
};
