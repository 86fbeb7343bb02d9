import { randomUUID } from 'node:crypto';
import type { PolledTask, Sandbox } from '../state.ts';
import { durationFor, runningAfter } from '../tasks/task-pace.ts';

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
