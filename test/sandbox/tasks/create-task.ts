import { randomUUID } from 'node:crypto';
import type { Identity } from '../credentials/read-credentials.ts';
import { hasProduct } from '../entities.ts';
import type { PolledTask, Sandbox, Task } from '../state-types.ts';
import type { TaskRequest } from './parse-task-request.ts';
import { durationFor, runningAfter } from './task-timing.ts';

/** Creates a task that starts now. `durationMs` null: it does not end by itself. */
export const createTask = (
  sandbox: Sandbox,
  clientId: string,
  identity: Identity,
  request: TaskRequest,
  durationMs: number | null,
): Task => {
  const createdAt = sandbox.clock.now();
  const canRun = request.actions.some(({ id }) => hasProduct(request.entity, id));
  const task: Task = {
    taskId: randomUUID(),
    clientId,
    ...identity,
    entity: request.entity,
    actions: request.actions.map((action) =>
      action.id === 'movement' ? { id: action.id, dateRange: action.params.dateRange } : { id: action.id },
    ),
    ...(request.webhook === undefined ? {} : { webhook: request.webhook }),
    createdAt,
    // A task without an action that can run is never RUNNING.
    runningAt: canRun ? createdAt + runningAfter(durationMs) : Number.POSITIVE_INFINITY,
    deliveries: [],
  };
  sandbox.tasks.set(task.taskId, task);
  sandbox.events.append({ type: 'task-created', taskId: task.taskId, username: task.username });
  return task;
};

/** Creates a task that starts now and ends after its planned duration. */
export const createPolledTask = (
  sandbox: Sandbox,
  { clientId, username, asked }: Pick<PolledTask, 'clientId' | 'username' | 'asked'>,
): PolledTask => {
  const createdAt = sandbox.clock.now();
  const durationMs = durationFor(sandbox, username);
  const task: PolledTask = {
    taskId: randomUUID(),
    clientId,
    username,
    asked,
    createdAt,
    runningAt: createdAt + runningAfter(durationMs),
    endsAt: durationMs === null ? null : createdAt + durationMs,
  };
  sandbox.polledTasks.set(task.taskId, task);
  sandbox.events.append({ type: 'task-created', taskId: task.taskId, username });
  return task;
};
