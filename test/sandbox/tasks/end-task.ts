import { hasProduct } from '../entities.ts';
import type { Plan } from '../plan.ts';
import { buildResults, type Results } from '../results/build-results.ts';
import type { Task } from '../state.ts';
import type { ActionErrors, TerminalStatus } from '../task-vocabulary.ts';
import { plannedOutcome } from './planned-outcome.ts';

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
