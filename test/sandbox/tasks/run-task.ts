import type { Sandbox, Task } from '../state.ts';
import { finishTask } from './finish-task.ts';

/** Ends a task after its duration. null: only the control interface ends it. */
export const runTask = async (sandbox: Sandbox, task: Task, durationMs: number | null): Promise<void> => {
  if (durationMs === null) return;
  const endsAt = task.createdAt + durationMs;
  if ((await sandbox.clock.until(endsAt, sandbox.pending.signal)) === 'due') {
    finishTask(sandbox, task, { at: endsAt });
  }
};
