import { ProviderAnswerTooLarge } from '../provider/errors.ts';
import { parseActionResults } from '../provider/parse-action-results.ts';
import type { TaskReading } from '../provider/read-task.ts';
import type { Reading } from './reading.ts';
import { isTerminalStatus } from './record.ts';

/** What a v2 task says of itself: its `taskStatus` alone decides. */
export const readingOfTask = ({ taskStatus, results, bytes }: TaskReading): Reading => {
  if (!isTerminalStatus(taskStatus)) {
    return { kind: 'running', known: taskStatus === 'PENDING' || taskStatus === 'RUNNING' };
  }
  const parsed = parseActionResults(taskStatus, results);
  return {
    kind: 'ended',
    taskStatus,
    expected: parsed.kind !== 'unexpected',
    ...(parsed.kind === 'none' ? {} : { results: bytes }),
    ...(parsed.kind === 'actions' ? { actionResults: parsed.actions } : {}),
  };
};

/**
 * Reads a task. Only one that has ended has results, so a body over the cap says that it has, and not how. Throws
 * what `read` throws besides.
 */
export const readingBy = async (read: () => Promise<TaskReading>): Promise<Reading> => {
  try {
    return readingOfTask(await read());
  } catch (error) {
    if (error instanceof ProviderAnswerTooLarge) return { kind: 'too-large' };
    throw error;
  }
};
