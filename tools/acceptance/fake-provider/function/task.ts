import { issueToken, openToken } from './issue-token.ts';
import type { Scenario } from './scenario.ts';

/** The actions of v2 tasks, which are also the products that every consent includes. */
export const actionIds = ['movement', 'product-balance', 'tef'] as const;

/** What remains of a scenario once its task exists. */
type Task = Pick<Scenario, 'outcome' | 'endsAfter' | 'webhook' | 'resultBytes'> & {
  /** In seconds since 1970. */
  readonly startedAt: number;
  /** How often the webhook is tried. 0 if there is none. */
  readonly attempts: number;
  readonly actions: readonly (typeof actionIds)[number][];
};

/**
 * Writes a task as its own id, with a nonce that keeps equal tasks apart. With the longest scenario and five actions it has the 100
 * characters of the document at most.
 */
export const issueTaskId = (key: string, task: Task, nonce: string): string => {
  const { outcome, endsAfter, webhook, resultBytes, attempts, actions } = task;
  const start = task.startedAt.toString(36);
  const initials = actions.map((id) => id.charAt(0)).join('');
  const fields = [nonce, start, outcome, endsAfter, webhook, resultBytes, attempts, initials];
  return issueToken(key, 'task', fields);
};

/** Undoes `issueTaskId`. Returns undefined for an id that this key did not issue. */
export const openTaskId = (key: string, taskId: string): Task | undefined => {
  const fields = openToken(key, 'task', taskId);
  if (fields === undefined) return undefined;
  const [, startedAt = '', outcome, endsAfter, webhook, resultBytes, attempts, initials = ''] = fields;
  return {
    startedAt: Number.parseInt(startedAt, 36),
    // The MAC proves that `issueTaskId` wrote them.
    ...({ outcome, webhook } as Pick<Task, 'outcome' | 'webhook'>),
    endsAfter: endsAfter === 'never' ? endsAfter : Number(endsAfter),
    resultBytes: Number(resultBytes),
    attempts: Number(attempts),
    actions: [...initials].flatMap((initial) => actionIds.filter((id) => id.startsWith(initial))),
  };
};

/** Whether a task has ended. `now` is in seconds since 1970. */
export const hasEnded = ({ startedAt, endsAfter }: Pick<Task, 'startedAt' | 'endsAfter'>, now: number) =>
  endsAfter !== 'never' && now >= startedAt + endsAfter;

export const viewTask = (task: Task, now: number) => {
  const taskStatus = hasEnded(task, now) ? task.outcome : 'RUNNING';
  const hasResults = ['COMPLETED', 'PARTIAL', 'FAILED'].includes(taskStatus);
  return { taskStatus, results: hasResults ? resultsOf(task) : null };
};

const resultsOf = ({ outcome, actions, resultBytes }: Task) => ({
  username: 'fake',
  entityId: 'fake-bank',
  actions: actions.map((id, index) => {
    const failed = outcome === 'FAILED' || (outcome === 'PARTIAL' && index === actions.length - 1);
    return failed
      ? {
          id,
          status: 'FAILED',
          output: null,
          error: { code: 'ACTION_ERROR', message: 'The scenario fails it.' },
        }
      : { id, status: 'COMPLETED', output: output(index === 0 ? resultBytes : 0) };
  }),
});

/** The data of one product, of at least so many bytes. */
export const output = (bytes: number) => ({
  balance: 1_250_000,
  currency: 'CLP',
  padding: 'x'.repeat(bytes),
});
