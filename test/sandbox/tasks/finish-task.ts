import type { Identity } from '../credentials/read-credentials.ts';
import { hasProduct } from '../entities.ts';
import { type Outcome, outcomeForStatus, outcomeOf } from '../outcome-table.ts';
import type { Plan } from '../plan-schemas.ts';
import { planOf } from '../planned-behaviour.ts';
import { buildResults, type Results } from '../results/build-results.ts';
import type { Sandbox, Task } from '../state-types.ts';
import type { ActionErrors, TerminalStatus } from '../task-vocabulary.ts';
import { deliverCompletion } from '../webhook/deliver-completion.ts';

/** Ends a task after its duration. null: only the control interface ends it. */
export const runTask = async (sandbox: Sandbox, task: Task, durationMs: number | null): Promise<void> => {
  if (durationMs === null) return;
  const endsAt = task.createdAt + durationMs;
  if ((await sandbox.clock.until(endsAt, sandbox.pending.signal)) === 'due') {
    finishTask(sandbox, task, { at: endsAt });
  }
};

/** How a task ends: with the requested status, else by its plan, else by the outcome table. */
export const endTask = (
  task: Task,
  plan: Plan,
  at: number,
  requestedStatus?: TerminalStatus,
): NonNullable<Task['ending']> => {
  const status = requestedStatus ?? plan.outcome;
  const outcome = plannedOutcome(task, plan, status);
  // Without a requested status, actions that the entity does not have fail.
  const missing = status === undefined ? missingActions(task) : {};
  const results =
    outcome.kind === 'credentials' ? null : buildResults(task, { ...outcome.actionErrors, ...missing }, at);
  return {
    taskStatus: status ?? (outcome.kind === 'credentials' ? outcome.taskStatus : statusOf(results)),
    results: 'results' in plan ? plan.results : results,
    finishedAt: at,
  };
};

/** "States and transitions", v2 task. */
const statusOf = (results: Results | null): TerminalStatus => {
  const actions = results?.actions ?? [];
  if (actions.every((action) => action.status === 'COMPLETED')) return 'COMPLETED';
  return actions.some((action) => action.status === 'COMPLETED') ? 'PARTIAL' : 'FAILED';
};

/** The errors of actions that the task's entity does not have. */
const missingActions = ({ entity, actions }: Task): ActionErrors => {
  const missing = actions.filter(({ id }) => !hasProduct(entity, id));
  return Object.fromEntries(missing.map(({ id }) => [id, 'ACTION_ERROR']));
};

/** Ends a task and starts its deliveries. Returns false if it has ended already. */
export const finishTask = (
  sandbox: Sandbox,
  task: Task,
  { at, taskStatus }: { readonly at: number; readonly taskStatus?: TerminalStatus },
): boolean => {
  const client = sandbox.clients.get(task.clientId);
  if (task.ending !== undefined || client === undefined) return false;
  const ending = endTask(task, planOf(sandbox, task.username), at, taskStatus);
  task.ending = ending;
  sandbox.events.append({
    type: 'task-finished',
    taskId: task.taskId,
    username: task.username,
    taskStatus: ending.taskStatus,
  });
  void deliverCompletion(sandbox, task, client);
  return true;
};

/** The outcome of a task: by `status` if given, else by the outcome table. Planned action errors are added. */
export const plannedOutcome = (
  { username, businessId }: Identity,
  plan: Plan,
  status: TerminalStatus | undefined = plan.outcome,
): Outcome => {
  const outcome = status === undefined ? outcomeOf(username, businessId) : outcomeForStatus(status);
  if (outcome.kind === 'credentials' || plan.actionErrors === undefined) return outcome;
  return { kind: 'actions', actionErrors: { ...outcome.actionErrors, ...plan.actionErrors } };
};
