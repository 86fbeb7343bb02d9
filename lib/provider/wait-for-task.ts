import { isTaskOver, readTypedTask, type Task } from './read-typed-task.ts';
import type { Connection } from './send-request.ts';
import type { SessionTokens } from './session-tokens.ts';
import { type WaitOptions, waitUntil } from './wait-until.ts';
import { withSession } from './with-session.ts';

/** Polls a v2 task until it has ended, whichever way; a wait may outlast its session. Throws as `waitUntil` does. */
export const waitForTask = (
  connection: Connection,
  sessions: SessionTokens,
  taskId: string,
  options: WaitOptions = {},
): Promise<Task> =>
  waitUntil(
    connection,
    async (bounded) => {
      const task = await withSession(sessions, (token) => readTypedTask(bounded, token, taskId));
      return isTaskOver(task.taskStatus) ? task : undefined;
    },
    options,
  );
