import type { Sandbox, Task } from '../state.ts';
import { finishTask } from './finish-task.ts';

/** Lets a task end by itself after its duration; null: it waits for the control interface. */
export const runTask = async (sandbox: Sandbox, task: Task, durationMs: number | null): Promise<void> => {
  if (durationMs === null) return;
  const endsAt = task.createdAt + durationMs;
  if ((await sandbox.clock.until(endsAt, sandbox.pending.signal)) === 'due') {
    finishTask(sandbox, task, { at: endsAt });
  }
};
