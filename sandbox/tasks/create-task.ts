import { randomUUID } from 'node:crypto';
import { hasProduct } from '../entities.ts';
import type { PolledTask, Sandbox, Task } from '../state-types.ts';
import { firstDelivery, sendsWebhook } from '../webhook/deliver-completion.ts';
import { finishTask } from './finish-task.ts';
import { durationFor, runningAfter } from './task-timing.ts';

/** `finish` ends the task at once. It resolves after the first accepted delivery, or when there will be none. */
export type AcceptedStart = { readonly taskId: string; readonly finish: () => Promise<void> };

/** Creates a task that starts now and ends after its planned duration. */
export const createTask = (
  sandbox: Sandbox,
  request: Pick<Task, 'clientId' | 'username' | 'businessId' | 'entity' | 'actions' | 'webhook'>,
): AcceptedStart => {
  const createdAt = sandbox.clock.now();
  const durationMs = durationFor(sandbox, request.username);
  const canRun = request.actions.some(({ id }) => hasProduct(request.entity, id));
  const task: Task = {
    ...request,
    taskId: randomUUID(),
    createdAt,
    // A task without an action that can run is never RUNNING.
    runningAt: canRun ? createdAt + runningAfter(durationMs) : Number.POSITIVE_INFINITY,
    deliveries: [],
  };
  sandbox.tasks.set(task.taskId, task);
  sandbox.events.append({ type: 'task-created', taskId: task.taskId, username: task.username });
  void finishAfter(sandbox, task, durationMs);
  return { taskId: task.taskId, finish: () => finishAndDeliver(sandbox, task) };
};

const finishAndDeliver = async (sandbox: Sandbox, task: Task): Promise<void> => {
  // Subscribes before the task ends.
  const delivered = sendsWebhook(sandbox, task) ? firstDelivery(sandbox, task.taskId) : undefined;
  finishTask(sandbox, task, sandbox.clock.now());
  await delivered;
};

/** null: only the control interface ends it. */
const finishAfter = async (sandbox: Sandbox, task: Task, durationMs: number | null): Promise<void> => {
  if (durationMs === null) return;
  const at = task.createdAt + durationMs;
  if ((await sandbox.clock.until(at, sandbox.pending.signal)) === 'due') finishTask(sandbox, task, at);
};

/** The same for a task that the client polls. It has no delivery: the document shows no event of its interfaces. */
export const createPolledTask = (
  sandbox: Sandbox,
  request: Pick<PolledTask, 'clientId' | 'username' | 'asked'>,
): AcceptedStart => {
  const createdAt = sandbox.clock.now();
  const durationMs = durationFor(sandbox, request.username);
  const task: PolledTask = {
    ...request,
    taskId: randomUUID(),
    createdAt,
    runningAt: createdAt + runningAfter(durationMs),
    endsAt: durationMs === null ? null : createdAt + durationMs,
  };
  sandbox.polledTasks.set(task.taskId, task);
  sandbox.events.append({ type: 'task-created', taskId: task.taskId, username: task.username });
  return {
    taskId: task.taskId,
    finish: async () => {
      task.endsAt = sandbox.clock.now();
    },
  };
};
