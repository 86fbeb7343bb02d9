import { parseActionResults } from '../provider/tasks/parse-action-results.ts';
import type { TaskReading } from '../provider/tasks/read-task.ts';
import { ProviderAnswerTooLarge } from '../provider/transport/errors.ts';
import { looksLikeCode } from './looks-like-code.ts';
import type { Reading } from './reading.ts';
import { type ActionResult, isTerminalStatus } from './record.ts';

const codeOrUnknown = (text: string): string => (looksLikeCode(text) ? text : 'unknown');

/** What is recorded of an action: each word where it looks like a code, else `unknown`. */
const recorded = ({ id, status, errorCode }: ActionResult): ActionResult => ({
  id: codeOrUnknown(id),
  status: codeOrUnknown(status),
  ...(errorCode === undefined ? {} : { errorCode: codeOrUnknown(errorCode) }),
});

/** What a v2 task says of itself: its `taskStatus` alone decides. */
export const readingOfTask = ({ taskStatus, results, bytes }: TaskReading): Reading => {
  if (!isTerminalStatus(taskStatus)) {
    return { kind: 'running', known: taskStatus === 'PENDING' || taskStatus === 'RUNNING' };
  }
  const parsed = parseActionResults(taskStatus, results);
  const actions = parsed.kind === 'actions' ? parsed.actions : [];
  return {
    kind: 'ended',
    taskStatus,
    expected:
      parsed.kind !== 'unexpected' && actions.flatMap((one) => Object.values(one)).every(looksLikeCode),
    ...(parsed.kind === 'none' ? {} : { results: bytes }),
    ...(parsed.kind === 'actions' ? { actionResults: actions.map(recorded) } : {}),
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
