import { formatUsername, type Scenario } from './scenario.ts';
import { issueToken, openToken } from './tokens.ts';

/** The actions of v2 tasks, which are also the products that every consent includes. */
export const actionIds = ['movement', 'product-balance', 'tef'] as const;
export type ActionId = (typeof actionIds)[number];

/** What remains of a scenario once its task exists. */
export type Task = Pick<Scenario, 'outcome' | 'endsAfter' | 'webhook' | 'reads' | 'resultBytes'> & {
  /** In seconds since 1970. */
  readonly startedAt: number;
  /** How often the webhook is tried. 0 if there is none. */
  readonly attempts: number;
  readonly actions: readonly ActionId[];
};

type TaskFields = readonly [
  nonce: string,
  startedAt: string,
  outcome: Task['outcome'],
  endsAfter: string,
  webhook: Task['webhook'],
  reads: Task['reads'],
  resultBytes: string,
  attempts: string,
  initialsOfActions: string,
];

/**
 * Writes a task as its own id, with a nonce that keeps equal tasks apart. Returns undefined if the id exceeds the 100
 * characters of the document. The longest scenario leaves room for five actions.
 */
export const issueTaskId = (key: string, task: Task, nonce: string): string | undefined => {
  const fields: TaskFields = [
    nonce,
    task.startedAt.toString(36),
    task.outcome,
    String(task.endsAfter),
    task.webhook,
    task.reads,
    String(task.resultBytes),
    String(task.attempts),
    task.actions.map((id) => id.charAt(0)).join(''),
  ];
  const taskId = issueToken(key, 'task', fields);
  return taskId.length <= 100 ? taskId : undefined;
};

/** Undoes `issueTaskId`. Returns undefined for an id that this key did not issue. */
export const openTaskId = (key: string, taskId: string): Task | undefined => {
  const fields = openToken(key, 'task', taskId);
  if (fields === undefined) return undefined;
  // The MAC proves that `issueTaskId` wrote them.
  const [, startedAt, outcome, endsAfter, webhook, reads, resultBytes, attempts, initials] =
    fields as unknown as TaskFields;
  return {
    startedAt: Number.parseInt(startedAt, 36),
    outcome,
    endsAfter: endsAfter === 'never' ? endsAfter : Number(endsAfter),
    webhook,
    reads,
    resultBytes: Number(resultBytes),
    attempts: Number(attempts),
    actions: [...initials].flatMap((initial) => actionIds.filter((id) => id.startsWith(initial))),
  };
};

/** Whether a task has ended. `now` is in seconds since 1970. */
export const hasEnded = ({ startedAt, endsAfter }: Pick<Task, 'startedAt' | 'endsAfter'>, now: number) =>
  endsAfter !== 'never' && now >= startedAt + endsAfter;

/** The answer to a read of a v2 task ("Read task (v2)"). */
export const viewTask = (task: Task, now: number) => {
  const truth = hasEnded(task, now) ? task.outcome : 'RUNNING';
  const taskStatus = task.reads === 'truth' ? truth : task.reads;
  const hasResults = ['COMPLETED', 'PARTIAL', 'FAILED'].includes(taskStatus);
  return { taskStatus, results: hasResults ? resultsOf(task, taskStatus) : null };
};

const resultsOf = ({ outcome, endsAfter, actions, resultBytes }: Task, taskStatus: string) => ({
  username: formatUsername({ outcome, endsAfter }),
  entityId: 'fake-bank',
  actions: actions.map((id, index) => {
    const failed = taskStatus === 'FAILED' || (taskStatus === 'PARTIAL' && index === actions.length - 1);
    return failed
      ? {
          id,
          status: 'FAILED',
          output: null,
          error: { code: 'ACTION_ERROR', message: 'The scenario fails it.' },
        }
      : { id, status: 'COMPLETED', output: outputOf(id, index === 0 ? resultBytes : 0) };
  }),
});

/** The data of one product, an object for `product-balance` and else a list, of at least so many bytes. */
export const outputOf = (id: ActionId, bytes: number) => {
  const padding = 'x'.repeat(bytes);
  if (id === 'product-balance') return { balance: 1_250_000, currency: 'CLP', padding };
  const accounts = { originAccount: '000111', destinationAccount: '000222' };
  return [{ date: '2026-01-15', amount: 12_500, currency: 'CLP', ...accounts, padding }];
};
