import { hasProduct } from '../entities.ts';
import type { Plan } from '../plan.ts';
import type { Progress } from '../polled/polled-progress.ts';
import { productData } from '../results/product-data.ts';
import type { AskedByCredentials } from '../state.ts';
import { ACTION_IDS, type ActionErrors } from '../task-vocabulary.ts';
import { plannedOutcome } from '../tasks/planned-outcome.ts';
import { type LegacyAnswer, success } from './presets.ts';
import { recipients } from './recipients.ts';

/**
 * What a poll of a legacy task is answered with. Its end follows from the same table and plans as that of a v2
 * task. "Transitions: not shown": in progress it is as the other poll of v1.
 */
export const legacyAnswer = (
  asked: AskedByCredentials,
  username: string,
  plan: Plan,
  progress: Progress,
  at: number,
): LegacyAnswer => {
  if (progress !== 'ended') return { taskStatus: progress, taskStatusCode: 202 };
  const { entityId, actionType, businessId } = asked;
  const outcome = plannedOutcome(businessId === undefined ? { username } : { username, businessId }, plan);
  if (outcome.kind === 'credentials') {
    const taskStatus = outcome.taskStatus === 'CREDENTIALS_WRONG' ? 'wrong_login' : 'locked';
    return { taskStatus, taskStatusCode: 401, results: {} };
  }
  const isMissing = plan.outcome === undefined && !hasProduct(entityId, actionType);
  if (isMissing || hasError(outcome.actionErrors, actionType)) {
    return { taskStatus: 'error', taskStatusCode: 500, results: {} };
  }
  // Transfers are shown with recipient items in the sandbox's samples of this interface.
  const data = actionType === 'tef' ? recipients() : productData(actionType, username, at);
  const answer = success({ username, asked }, data);
  return 'results' in plan ? { ...answer, results: plan.results } : answer;
};

/** The table names the actions of v2: others fail where all of those do. */
const hasError = (errors: ActionErrors, actionType: string): boolean => {
  const named = ACTION_IDS.find((id) => id === actionType);
  return named === undefined ? ACTION_IDS.every((id) => id in errors) : errors[named] !== undefined;
};
