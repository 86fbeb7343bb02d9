import type { Plan } from '../plan.ts';
import { buildResults, type Results } from '../results/build-results.ts';
import type { Task } from '../state.ts';
import type { TerminalStatus } from '../task-vocabulary.ts';
import { plannedOutcome } from './planned-outcome.ts';

/** How a task ends: by the status that is ordered, else by its plan, else by the outcome table. */
export function endTask(
  task: Task,
  plan: Plan,
  at: number,
  orderedStatus?: TerminalStatus,
): NonNullable<Task['ending']> {
  const status = orderedStatus ?? plan.outcome;
  const outcome = plannedOutcome(task, plan, status);
  const results = outcome.kind === 'credentials' ? null : buildResults(task, outcome.actionErrors, at);
  return {
    taskStatus: status ?? (outcome.kind === 'credentials' ? outcome.taskStatus : statusOf(results)),
    results: 'results' in plan ? plan.results : results,
    finishedAt: at,
  };
}

/** "States and transitions", v2 task. */
function statusOf(results: Results | null): TerminalStatus {
  const actions = results?.actions ?? [];
  if (actions.every((action) => action.status === 'COMPLETED')) return 'COMPLETED';
  return actions.some((action) => action.status === 'COMPLETED') ? 'PARTIAL' : 'FAILED';
}
