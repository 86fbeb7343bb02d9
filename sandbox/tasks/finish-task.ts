import type { Identity } from '../credentials/read-credentials.ts';
import { hasProduct } from '../entities.ts';
import { OUTCOMES, type OutcomeRow } from '../outcome-table.ts';
import type { Plan } from '../plan-schemas.ts';
import { planOf } from '../planned-behaviour.ts';
import { buildResults } from '../results/build-results.ts';
import type { Sandbox, Task } from '../state-types.ts';
import type { ActionErrors, TerminalStatus } from '../task-vocabulary.ts';
import { deliverCompletion } from '../webhook/deliver-completion.ts';

/** How a task ends: with the requested status, else by its plan, else by the outcome table. */
const endOf = (task: Task, plan: Plan, at: number, status: TerminalStatus | undefined = plan.outcome) => {
  const outcome = plannedOutcome(task, plan, status);
  if (outcome.kind === 'credentials') return { taskStatus: outcome.taskStatus, results: null };
  // Without a requested status, actions that the entity does not have fail.
  const missing = status === undefined ? missingActions(task) : {};
  const results = buildResults(task, { ...outcome.actionErrors, ...missing }, at);
  return { taskStatus: status ?? statusOf(results), results };
};

/** "States and transitions", v2 task. */
const statusOf = ({ actions }: ReturnType<typeof buildResults>): TerminalStatus => {
  const completed = actions.filter(({ status }) => status === 'COMPLETED').length;
  if (completed === actions.length) return 'COMPLETED';
  return completed === 0 ? 'FAILED' : 'PARTIAL';
};

/** The errors of actions that the task's entity does not have. */
const missingActions = ({ entity, actions }: Task): ActionErrors => {
  const missing = actions.filter(({ id }) => !hasProduct(entity, id));
  return Object.fromEntries(missing.map(({ id }) => [id, 'ACTION_ERROR']));
};

/** Ends a task and starts its deliveries. Returns false if it has ended already. */
export const finishTask = (sandbox: Sandbox, task: Task, at: number, requested?: TerminalStatus): boolean => {
  const client = sandbox.clients.get(task.clientId);
  if (task.ending !== undefined || client === undefined) return false;
  const plan = planOf(sandbox, task.username);
  const { taskStatus, results } = endOf(task, plan, at, requested);
  task.ending = { taskStatus, results: 'results' in plan ? plan.results : results, finishedAt: at };
  const { taskId, username } = task;
  sandbox.events.append({ type: 'task-finished', taskId, username, taskStatus });
  void deliverCompletion(sandbox, task, client);
  return true;
};

/**
 * The outcome of a task, with the planned action errors: by `status` if given, else by the outcome table. `credentials`
 * outcomes have no results, the others follow from each action.
 */
export const plannedOutcome = (
  { username, businessId }: Identity,
  plan: Plan,
  status: TerminalStatus | undefined = plan.outcome,
) => {
  // A row also applies to credentials without a businessId, so that personal banking has every outcome too.
  const isRow = (row: OutcomeRow): boolean =>
    row.username === username && (businessId === undefined || businessId === row.businessId);
  const row = OUTCOMES.find((each) => (status === undefined ? isRow(each) : each.taskStatus === status));
  const taskStatus = status ?? row?.taskStatus;
  if (taskStatus === 'CREDENTIALS_WRONG' || taskStatus === 'CREDENTIALS_LOCKED') {
    return { kind: 'credentials', taskStatus } as const;
  }
  // A pair without a row completes, so that a test can invent a username and give it a plan.
  const actionErrors: ActionErrors = { ...row?.actionErrors, ...plan.actionErrors };
  return { kind: 'actions', actionErrors } as const;
};
