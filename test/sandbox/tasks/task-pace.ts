import { planOf } from '../plans.ts';
import type { Sandbox } from '../state.ts';

/** How long a task is pending before it is running: a third of its life, half a second at most. */
const longestPendingMs = 500;

/** Null: the task will not end by itself. */
export const durationFor = (sandbox: Sandbox, username: string): number | null => {
  const planned = planOf(sandbox, username).durationMs;
  return planned === undefined ? sandbox.settings.taskDurationMs : planned;
};

export const runningAfter = (durationMs: number | null): number =>
  Math.min(longestPendingMs, (durationMs ?? Number.POSITIVE_INFINITY) / 3);

/** "`taskId` expire[s] after a limited time" ("Limits"). */
export const hasExpired = (sandbox: Sandbox, { createdAt }: { readonly createdAt: number }): boolean =>
  sandbox.clock.now() >= createdAt + sandbox.settings.taskLifeMs;
