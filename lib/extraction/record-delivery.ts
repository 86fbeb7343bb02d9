import { settleDelivered } from './decide.ts';
import { finalStatusIn, type TerminalStatus } from './record.ts';
import { type MarkDeps, markCredentialsIfKnown } from './refused-credentials.ts';
import { cannotPerform, type RunDeps, runUnread } from './run.ts';
import type { TaskStore, WakeOutcome } from './store.ts';

type RecordDeliveryDeps = RunDeps &
  MarkDeps & {
    readonly tasks: TaskStore;
    readonly wake: (callbackToken: string, extractionId: string) => Promise<WakeOutcome>;
  };

export type RecordedDelivery =
  /** No extraction is linked to the task. The delivery is early or an orphan, and is stored. */
  | { readonly kind: 'stored' }
  /** The extraction was erased. Nothing is stored or read. */
  | { readonly kind: 'erased' }
  | { readonly kind: 'recorded'; readonly extractionId: string; readonly wake: WakeOutcome | 'no-token' };

/**
 * Records the final status of a verified delivery in `Tasks`, marks what it shows about credentials, settles its extraction, queues the
 * collection, and ends the execution's wait (design, section 4). The execution waits until the queue has the rest. So after a crash at any
 * step, the next delivery or the sweep continues. Throws what its dependencies throw. The caller then answers 5xx, and the provider
 * delivers again.
 *
 * The race with start-task, which links the task: both write one item of `Tasks`, and the answer to each write shows what the other one
 * has stored. So the second one settles and ends the wait:
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
    // Every such delivery is counted, because the process of the first may have ended between storing and counting. docs/operations.md,
    // "How orphan deliveries are counted", describes the effect on the alarm.
    deps.telemetry.count('UnlinkedDelivery', delivery);
    return { kind: 'stored' };
  }

  // If two deliveries disagree, the first one is used, and the later one is only counted.
  const taskStatus = finalStatusIn(task) ?? delivery.taskStatus;
  if (taskStatus !== delivery.taskStatus) deps.telemetry.count('StatusDisagreement', delivery);
  await markCredentialsIfKnown(task, deps);
  const settled = settleDelivered({ extractionId, taskId, taskStatus }, deps.now(), deps.timings);
  // For a repeated delivery, the record is mostly closed with the same outcome. Then this only logs and ends the wait again.
  const result = await runUnread(settled, { kind: 'webhook' }, { ...deps, perform: cannotPerform });
  if (result.conclusion === 'gone') {
    // The write reads the item again, as this function may only update it. An erasure replaces the item before it removes the record. In any other case the record was lost, which does not concern
    // the provider.
    if ((await recordStatus()).isErased === true) return { kind: 'erased' };
    deps.telemetry.count('DeliveryWithoutRecord', delivery);
  }
  const wake = callbackToken === undefined ? 'no-token' : await deps.wake(callbackToken, extractionId);
  if (wake === 'invalid-token') deps.telemetry.count('InvalidCallbackToken', delivery);
  return { kind: 'recorded', extractionId, wake };
};
