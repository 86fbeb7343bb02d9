/** Only in the published client (docs/provider-client.md). */

import { type SessionTokens, withSession } from '../tokens/session-tokens.ts';
import type { Connection } from '../transport/send-request.ts';
import { type WaitOptions, waitUntil } from '../transport/wait-until.ts';
import { isTaskOver, type ProviderTask, readTypedTask } from './read-typed-task.ts';

/** Polls a v2 task until it has ended. The wait may be longer than a session. Throws as `waitUntil` does. */
export const waitForTask = (
  connection: Connection,
  sessions: SessionTokens,
  taskId: string,
  options: WaitOptions = {},
): Promise<ProviderTask> =>
  waitUntil(
    connection,
    async (bounded) => {
      const task = await withSession(sessions, (token) => readTypedTask(bounded, token, taskId));
      return isTaskOver(task.taskStatus) ? task : undefined;
    },
    options,
  );
