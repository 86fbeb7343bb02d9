import type { Delivery } from '../event-log.ts';
import type { WebhookPlan } from '../plan-schemas.ts';
import { planOf } from '../planned-behaviour.ts';
import type { Client, Sandbox, Task } from '../state-types.ts';
import { attemptDelivery, isDelivered, recordDelivery } from './attempt-delivery.ts';

/** Whether the end of a task is delivered: the request enabled it, and the sandbox sends webhooks. */
export const sendsWebhook = (sandbox: Sandbox, task: Task): boolean =>
  sandbox.settings.webhooks && task.webhook?.enable === true;

/**
 * Delivers the webhook of a finished task: up to `retries` attempts at their offsets from its end, until one is accepted.
 * If all fail, that is only recorded ("Events" 7 to 9).
 */
export const deliverCompletion = async (sandbox: Sandbox, task: Task, client: Client): Promise<void> => {
  const { ending, webhook } = task;
  if (ending === undefined || webhook === undefined || !sendsWebhook(sandbox, task)) return;
  const { signal } = sandbox.pending;
  const offsets = planOf(sandbox, task.username).webhook?.scheduleMs ?? sandbox.settings.deliveryIntervalsMs;
  let delivered = false;
  for (const [index, offset] of offsets.slice(0, webhook.retries).entries()) {
    if ((await sandbox.clock.until(ending.finishedAt + offset, signal)) === 'cancelled') return;
    // Read for each attempt, because plans and keys may change in between.
    const plan = planOf(sandbox, task.username).webhook ?? {};
    const copies = await attemptCopies(sandbox, task, client, index + 1, plan);
    // A reset during the attempt removed this task.
    if (signal.aborted) return;
    delivered ||= copies.some(isDelivered);
    if (delivered && plan.keepRetryingAfterSuccess !== true) break;
  }
  sandbox.events.append({ type: 'deliveries-ended', taskId: task.taskId, delivered });
};

const attemptCopies = async (
  sandbox: Sandbox,
  task: Task,
  client: Client,
  attempt: number,
  plan: WebhookPlan,
): Promise<readonly Delivery[]> => {
  const { taskId } = task;
  const taskStatus = task.ending?.taskStatus ?? 'RUNNING';
  if (plan.enabled === false || plan.drop?.includes(attempt) === true) {
    const at = new Date(sandbox.clock.now()).toISOString();
    return [recordDelivery(sandbox, taskId, { attempt, at, taskStatus, error: 'dropped' })];
  }
  const input = { client, taskId, taskStatus, attempt, shape: plan };
  const copies = Array.from({ length: 1 + (plan.duplicate ?? 0) }, () => attemptDelivery(sandbox, input));
  return (await Promise.all(copies)).map(({ delivery }) => delivery);
};

/** Resolves when a delivery of the task was accepted, or none can be: no webhook is configured, or no attempt is left. */
export const firstDelivery = (sandbox: Sandbox, taskId: string): Promise<void> =>
  new Promise((resolve) => {
    const stopListening = sandbox.events.subscribe((event) => {
      const isOver =
        event.type === 'reset' ||
        ('taskId' in event &&
          event.taskId === taskId &&
          (event.type === 'deliveries-ended' ||
            (event.type === 'delivery' &&
              (isDelivered(event.delivery) || event.delivery.error === 'not-configured'))));
      if (!isOver) return;
      stopListening();
      resolve();
    });
  });
