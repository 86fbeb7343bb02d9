import { settleDelivered } from './decide.ts';
import { finalStatusIn, type TerminalStatus } from './record.ts';
import { type MarkDeps, markCredentials } from './refused-credentials.ts';
import { cannotPerform, type RunDeps, runUnread } from './run.ts';
import type { TaskStore, WakeOutcome } from './store.ts';

type RecordDeliveryDeps = RunDeps &
  MarkDeps & {
    readonly tasks: TaskStore;
    readonly wake: (callbackToken: string, extractionId: string) => Promise<WakeOutcome>;
  };

export type RecordedDelivery =
  /** No extraction is linked to the task: an early delivery or an orphan delivery. Both are stored. */
  | { readonly kind: 'stored' }
  /** The extraction was erased. Nothing is stored or read. */
  | { readonly kind: 'erased' }
  | { readonly kind: 'recorded'; readonly extractionId: string; readonly wake: WakeOutcome | 'no-token' };

/**
 * Records the final status of a verified delivery in `Tasks`, marks what it shows about credentials, settles its extraction,
 * has the queue collect the results, and ends the execution's wait (design, section 4). In this order, the next delivery or the sweep repairs a crash after any
 * step: the execution goes on waiting until the queue has the rest. Throws what a dependency throws; the caller then answers
 * 5xx, and the provider delivers again.
 *
 * The race with start-task, which links the task. Both write one item of `Tasks`, and each reads in the answer to its own write
 * what the other has left there. So whichever comes second settles and wakes:
 *
 *     start-task:  start call ─► RUNNING ─► link: no status yet, so it waits
 *     webhook:                                    └─► status: finds link and token ─► settles ─► wakes
 *
 *     start-task:  start call ─► RUNNING ─────────────────► link: finds the status ─► settles ─► wakes
 *     webhook:         └─► status: no link yet, so it is stored (204) ┘
 */
export const recordDelivery = async (
  delivery: { readonly taskId: string; readonly taskStatus: TerminalStatus },
  deps: RecordDeliveryDeps,
): Promise<RecordedDelivery> => {
  const { taskId } = delivery;
  const recordStatus = () => deps.tasks.recordStatus({ ...delivery, notifiedAt: deps.now().toISOString() });
  const task = await recordStatus();
  const { extractionId, callbackToken } = task;
  if (task.isErased === true) return { kind: 'erased' };
  if (extractionId === undefined) {
    // Counted with every delivery and not only with the first, which may have ended between storing and counting.
    // docs/operations.md, "How orphan deliveries are counted", describes the effect on the alarm.
    deps.telemetry.count('UnlinkedDelivery', delivery);
    return { kind: 'stored' };
  }

  // Of two deliveries that disagree, the first one counts. The later one is only counted as a metric.
  const taskStatus = finalStatusIn(task) ?? delivery.taskStatus;
  if (taskStatus !== delivery.taskStatus) deps.telemetry.count('StatusDisagreement', delivery);
  // What the task showed first counts: its `firstStatus`.
  await markCredentials(task, delivery.taskStatus, deps);
  const settled = settleDelivered({ extractionId, taskId, taskStatus }, deps.now(), deps.timings);
  // A repeated delivery mostly finds a closed record with the same outcome. Then it only logs and wakes again.
  const result = await runUnread(settled, { kind: 'webhook' }, { ...deps, perform: cannotPerform });
  if (result.conclusion === 'gone') {
    // An erasure replaces the item of the task before it removes the record. Any other record was lost. The provider need not know.
    if ((await recordStatus()).isErased === true) return { kind: 'erased' };
    deps.telemetry.count('DeliveryWithoutRecord', delivery);
  }
  const wake = callbackToken === undefined ? 'no-token' : await deps.wake(callbackToken, extractionId);
  if (wake === 'invalid-token') deps.telemetry.count('InvalidCallbackToken', delivery);
  return { kind: 'recorded', extractionId, wake };
};
