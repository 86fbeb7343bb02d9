import { planOf } from '../plans.ts';
import type { Sandbox } from '../state.ts';

/** How long a task is pending before it is running: a third of its life, half a second at most. */
const longestPendingMs = 500;

/** Null: the task will not end by itself. */
export function durationFor(sandbox: Sandbox, username: string): number | null {
  const planned = planOf(sandbox, username).durationMs;
  return planned === undefined ? sandbox.settings.taskDurationMs : planned;
}

export function runningAfter(durationMs: number | null): number {
  return Math.min(longestPendingMs, (durationMs ?? Number.POSITIVE_INFINITY) / 3);
}

/** "`taskId` expire[s] after a limited time" ("Limits"). */
export function hasExpired(sandbox: Sandbox, { createdAt }: { readonly createdAt: number }): boolean {
  return sandbox.clock.now() >= createdAt + sandbox.settings.taskLifeMs;
}
