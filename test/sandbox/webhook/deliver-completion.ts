import type { WebhookPlan } from '../plan.ts';
import { planOf } from '../plans.ts';
import type { Client, Sandbox, Task } from '../state.ts';
import { type AttemptedDelivery, attemptDelivery, isDelivered, recordDelivery } from './attempt-delivery.ts';

/** Whether the task's end will be announced: the request asked for it, and the sandbox emits webhooks. */
export const wantsDelivery = (sandbox: Sandbox, task: Task): boolean =>
  sandbox.settings.webhooks && task.webhook?.enable === true;

/**
 * Announces a finished task: up to `retries` attempts at their offsets from its end, until one is taken; when
 * all fail that is recorded and nothing more ("Events" 7 to 9).
 */
export const deliverCompletion = async (sandbox: Sandbox, task: Task, client: Client): Promise<void> => {
  const { ending, webhook } = task;
  if (ending === undefined || webhook === undefined || !wantsDelivery(sandbox, task)) return;
  const { signal } = sandbox.pending;
  const offsets = planOf(sandbox, task.username).webhook?.scheduleMs ?? sandbox.settings.deliveryIntervalsMs;
  let delivered = false;
  for (const [index, offset] of offsets.slice(0, webhook.retries).entries()) {
    if ((await sandbox.clock.until(ending.finishedAt + offset, signal)) === 'cancelled') return;
    // Read anew for each attempt: plans and keys may change while deliveries are in flight.
    const plan = planOf(sandbox, task.username).webhook ?? {};
    const copies = await attemptCopies(sandbox, task, client, index + 1, plan);
    // A reset during the attempt has forgotten this task.
    if (signal.aborted) return;
    delivered ||= copies.some(({ delivery }) => isDelivered(delivery));
    if (delivered && plan.keepRetryingAfterSuccess !== true) break;
  }
  sandbox.events.append({ type: 'deliveries-ended', taskId: task.taskId, delivered });
};

const attemptCopies = (
  sandbox: Sandbox,
  task: Task,
  client: Client,
  attempt: number,
  plan: WebhookPlan,
): Promise<AttemptedDelivery[]> => {
  const { taskId } = task;
  const taskStatus = task.ending?.taskStatus ?? 'RUNNING';
  if (plan.enabled === false || plan.drop?.includes(attempt) === true) {
    const at = new Date(sandbox.clock.now()).toISOString();
    return Promise.resolve([recordDelivery(sandbox, taskId, { attempt, at, taskStatus, error: 'dropped' })]);
  }
  const order = { client, taskId, taskStatus, attempt, shape: plan };
  return Promise.all(
    Array.from({ length: 1 + (plan.duplicate ?? 0) }, () => attemptDelivery(sandbox, order)),
  );
};
