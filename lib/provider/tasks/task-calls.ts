/** Only in the published client (docs/provider-client.md). */

import type { ClientContext } from '../client-context.ts';
import { withSession } from '../tokens/session-tokens.ts';
import type { WaitOptions } from '../transport/wait-until.ts';
import { type ProviderTask, readTypedTask, waitForTask } from './read-typed-task.ts';
import { checkTaskRequest, startTask, type TaskRequest } from './start-task.ts';

/** "Start task (v2)", "Read task (v2)". */
export const taskCalls = ({ connection, sessions, waiting }: ClientContext) => ({
  /**
   * Sends credentials of mode `encrypted` only with the session token under which they are encrypted: `sessionToken`, or else the current
   * one. After a 401, which started nothing, other requests are sent once more with a new token.
   */
  startTask: async (request: TaskRequest, sessionToken?: string): Promise<string> => {
    // The request is checked before the login, so that an invalid one needs none.
    checkTaskRequest(request);
    if (sessionToken !== undefined || request.credentials.mode === 'encrypted') {
      return startTask(connection, sessionToken ?? (await sessions.current()), request);
    }
    return withSession(sessions, (token) => startTask(connection, token, request));
  },

  readTask: (taskId: string): Promise<ProviderTask> =>
    withSession(sessions, (token) => readTypedTask(connection, token, taskId)),

  waitForTask: (taskId: string, options?: WaitOptions): Promise<ProviderTask> =>
    waitForTask(connection, sessions, taskId, waiting(options)),
});
