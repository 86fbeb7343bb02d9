import type { OutcomeRow } from '../outcomes.ts';
import { OUTCOMES } from '../outcomes.ts';
import type { Client, Delivery, Sandbox, Task } from '../state.ts';
import type { TaskStatus } from '../task-vocabulary.ts';
import { taskStatusAt } from '../tasks/task-status.ts';

/** A task as the control interface shows it: without its results. Times are ISO 8601. */
export interface TaskView {
  readonly taskId: string;
  readonly clientId: string;
  readonly username: string;
  readonly businessId?: string;
  readonly taskStatus: TaskStatus;
  readonly createdAt: string;
  readonly finishedAt?: string;
  readonly deliveries: readonly Delivery[];
}

/** A client without its API key and signing key. */
export interface ClientView {
  readonly clientId: string;
  readonly webhook: { readonly url?: string; readonly mode: string; readonly hasSigningKey: boolean };
}

export interface Summary {
  readonly now: string;
  readonly clients: readonly ClientView[];
  readonly counts: {
    readonly sessions: number;
    readonly tasks: number;
    readonly calls: number;
    readonly plans: number;
  };
  readonly outcomes: readonly OutcomeRow[];
}

export function summaryView(sandbox: Sandbox): Summary {
  return {
    now: new Date(sandbox.clock.now()).toISOString(),
    clients: [...sandbox.clients.values()].map(clientView),
    counts: {
      sessions: sandbox.sessions.size,
      tasks: sandbox.tasks.size,
      calls: sandbox.calls.length,
      plans: sandbox.plans.size,
    },
    outcomes: OUTCOMES,
  };
}

export function clientView({ clientId, webhook: { url, mode, signingKey } }: Client): ClientView {
  return {
    clientId,
    webhook: { ...(url === undefined ? {} : { url }), mode, hasSigningKey: signingKey !== undefined },
  };
}

export function taskView(task: Task, now: number): TaskView {
  const { taskId, clientId, username, businessId, ending, deliveries } = task;
  return {
    taskId,
    clientId,
    username,
    ...(businessId === undefined ? {} : { businessId }),
    taskStatus: taskStatusAt(task, now),
    createdAt: new Date(task.createdAt).toISOString(),
    ...(ending === undefined ? {} : { finishedAt: new Date(ending.finishedAt).toISOString() }),
    deliveries,
  };
}
