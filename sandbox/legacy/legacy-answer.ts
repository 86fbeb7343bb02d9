import { hasProduct } from '../entities.ts';
import type { Plan } from '../plan-schemas.ts';
import { productData } from '../results/build-results.ts';
import type { LegacyTaskRequest } from '../state-types.ts';
import { ACTION_IDS, type ActionErrors } from '../task-vocabulary.ts';
import { plannedOutcome } from '../tasks/finish-task.ts';
import type { Progress } from '../tasks/task-timing.ts';
import { ERROR, type LegacyAnswer, LOCKED, recipients, success, WRONG_LOGIN } from './presets.ts';

/**
 * The answer to a poll of a legacy task. Its outcome follows from the same table and plans as a v2 task's. The document
 * does not show the answer in progress, so it is that of the consent flow's v1.
 */
export const legacyAnswer = (
  asked: LegacyTaskRequest,
  username: string,
  plan: Plan,
  progress: Progress,
  at: number,
): LegacyAnswer => {
  if (progress !== 'ended') return { taskStatus: progress, taskStatusCode: 202 };
  const { entityId, actionType, businessId } = asked;
  const outcome = plannedOutcome({ username, businessId }, plan);
  if (outcome.kind === 'credentials') {
    return outcome.taskStatus === 'CREDENTIALS_WRONG' ? WRONG_LOGIN : LOCKED;
  }
  const isMissing = plan.outcome === undefined && !hasProduct(entityId, actionType);
  if (isMissing || hasError(outcome.actionErrors, actionType)) return ERROR;
  // The document's samples of this interface have recipients as the items of transfers.
  const data = actionType === 'tef' ? recipients() : productData(actionType, username, at);
  const answer = success({ username, asked }, data);
  return 'results' in plan ? { ...answer, results: plan.results } : answer;
};

/** The outcome table has the actions of v2. Other actions fail if all of those fail. */
const hasError = (errors: ActionErrors, actionType: string): boolean => {
  const named = ACTION_IDS.find((id) => id === actionType);
  return named === undefined ? ACTION_IDS.every((id) => id in errors) : errors[named] !== undefined;
};
