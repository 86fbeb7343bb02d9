import { hasProduct } from '../entities.ts';
import type { Plan } from '../plan.ts';
import { buildResults, type Results } from '../results/build-results.ts';
import type { Task } from '../state.ts';
import type { ActionErrors, TerminalStatus } from '../task-vocabulary.ts';
import { plannedOutcome } from './planned-outcome.ts';

/** How a task ends: by the status that is ordered, else by its plan, else by the outcome table. */
export const endTask = (
  task: Task,
  plan: Plan,
  at: number,
  orderedStatus?: TerminalStatus,
): NonNullable<Task['ending']> => {
  const status = orderedStatus ?? plan.outcome;
  const outcome = plannedOutcome(task, plan, status);
  // A status that is ordered decides; else actions that the entity does not have fail.
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

/** Actions that the task's entity does not have: they cannot run. */
const missingActions = ({ entity, actions }: Task): ActionErrors => {
  const missing = actions.filter(({ id }) => !hasProduct(entity, id));
  return Object.fromEntries(missing.map(({ id }) => [id, 'ACTION_ERROR']));
};
