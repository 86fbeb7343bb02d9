import { planOf } from '../planned-behaviour.ts';
import type { PolledTask, Sandbox, Task } from '../state-types.ts';
import type { TaskStatus } from '../task-vocabulary.ts';

/** A task is PENDING for a third of its duration, but at most this long. */
const maxPendingMs = 500;

/** The duration of a username's tasks. null: they do not end by themselves. */
export const durationFor = (sandbox: Sandbox, username: string): number | null => {
  const planned = planOf(sandbox, username).durationMs;
  return planned === undefined ? sandbox.settings.taskDurationMs : planned;
};

export const runningAfter = (durationMs: number | null): number =>
  Math.min(maxPendingMs, (durationMs ?? Number.POSITIVE_INFINITY) / 3);

/** Whether a taskId has expired: "`taskId` expire[s] after a limited time" ("Limits"). */
export const hasExpired = (sandbox: Sandbox, { createdAt }: { readonly createdAt: number }): boolean =>
  sandbox.clock.now() >= createdAt + sandbox.settings.taskLifeMs;

export const taskStatusAt = (task: Task, now: number): TaskStatus =>
  task.ending?.taskStatus ?? (now < task.runningAt ? 'PENDING' : 'RUNNING');

export type Progress = 'pending' | 'running' | 'ended';

export const progressAt = ({ runningAt, endsAt }: PolledTask, now: number): Progress => {
  if (endsAt !== null && now >= endsAt) return 'ended';
  return now < runningAt ? 'pending' : 'running';
};
