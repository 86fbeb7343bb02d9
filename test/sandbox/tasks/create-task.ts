import { randomUUID } from 'node:crypto';
import type { Identity } from '../credentials/read-credentials.ts';
import type { Sandbox, Task } from '../state.ts';
import type { TaskRequest } from './parse-task-request.ts';

/** How long a task is PENDING before it is RUNNING: a third of its life, half a second at most. */
const longestPendingMs = 500;

/** Creates a task that starts now. `durationMs` null: it will not end by itself. */
export function createTask(
  sandbox: Sandbox,
  clientId: string,
  identity: Identity,
  request: TaskRequest,
  durationMs: number | null,
): Task {
  const createdAt = sandbox.clock.now();
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
    runningAt: createdAt + Math.min(longestPendingMs, (durationMs ?? Number.POSITIVE_INFINITY) / 3),
    deliveries: [],
  };
  sandbox.tasks.set(task.taskId, task);
  sandbox.events.append({ type: 'task-created', taskId: task.taskId, username: task.username });
  return task;
}
