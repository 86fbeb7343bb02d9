import type { TerminalStatus } from '#lib/extraction/record.ts';
import type { TaskReading } from '#lib/provider/tasks/read-task.ts';

/** "30 seconds between two deliveries", of which there are at most five; each has 5 s for its answer. */
export const deliveries = { most: 5, every: 30, answerWithin: 5 } as const;

export const hasResults = (status: TerminalStatus): boolean =>
  status !== 'CREDENTIALS_WRONG' && status !== 'CREDENTIALS_LOCKED';

/** What a read shows of results that lag behind the end of their task. */
export const laggingShapes = ['null', 'absent', 'empty', 'one of two', 'another action'] as const;

export type LaggingShape = (typeof laggingShapes)[number];

/** "Read task (v2)" of a task that has ended. */
export const endedReading = (
  status: TerminalStatus,
  bytes: Uint8Array,
  lagging?: LaggingShape,
): TaskReading => {
  // Free text about the user in place of a code.
  const error = status === 'FAILED' ? { error: { code: 'secret-user is not known' } } : {};
  const actionsOf = (...ids: readonly string[]) => ({ actions: ids.map((id) => ({ id, status, ...error })) });
  const shown = {
    null: null,
    absent: undefined,
    empty: actionsOf(),
    'one of two': actionsOf('tef'),
    'another action': actionsOf('movement', 'movement'),
  };
  const results = lagging === undefined ? actionsOf('product-balance', 'tef') : shown[lagging];
  return { taskStatus: status, results: hasResults(status) ? results : null, bytes };
};
