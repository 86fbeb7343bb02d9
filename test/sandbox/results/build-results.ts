import type { RequestedAction, Task } from '../state.ts';
import type { ActionErrorCode, ActionErrors, ActionId } from '../task-vocabulary.ts';
import { movementOutput } from './movement-output.ts';
import { productBalanceOutput } from './product-balance-output.ts';
import { tefOutput } from './tef-output.ts';

/** `results.actions[]` of the document: `error` is present if and only if the action FAILED. */
export type ActionResult =
  | { readonly id: ActionId; readonly status: 'COMPLETED'; readonly output: unknown }
  | {
      readonly id: ActionId;
      readonly status: 'FAILED';
      readonly output: null;
      readonly error: { readonly code: ActionErrorCode; readonly message: string };
    };

export type Results = {
  readonly username: string;
  readonly businessId?: string;
  readonly entityId: string;
  readonly actions: readonly ActionResult[];
};

const messages: Readonly<Record<ActionErrorCode, string>> = {
  UNKNOWN_ERROR: 'An unexpected error occurred',
  ACTION_ERROR: 'The action could not be completed',
  REQUEST_BLOCK_ERROR: 'The request was blocked by the entity',
  TIMEOUT_ERROR: 'The maximum operation time was exceeded',
  ENTITY_API_ERROR: 'The API of the entity reported an error',
};

/** The results of a task, one for each action in the order of the request. `at`: when the task ended. */
export const buildResults = (task: Task, errors: ActionErrors, at: number): Results => ({
  username: task.username,
  ...(task.businessId === undefined ? {} : { businessId: task.businessId }),
  entityId: task.entity,
  actions: task.actions.map((action) => actionResult(task.username, action, errors[action.id], at)),
});

const actionResult = (
  username: string,
  action: RequestedAction,
  code: ActionErrorCode | undefined,
  at: number,
): ActionResult => {
  if (code !== undefined) {
    return { id: action.id, status: 'FAILED', output: null, error: { code, message: messages[code] } };
  }
  return { id: action.id, status: 'COMPLETED', output: outputOf(username, action, at) };
};

const outputOf = (username: string, action: RequestedAction, at: number): unknown => {
  switch (action.id) {
    case 'product-balance':
      return productBalanceOutput(username);
    case 'movement':
      return movementOutput(username, action.dateRange, at);
    case 'tef':
      return tefOutput(username, at);
  }
};
