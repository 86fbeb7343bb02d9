import { checkTaskRequest } from './check-task-request.ts';
import type { ClientContext } from './client-context.ts';
import { readTypedTask, type Task } from './read-typed-task.ts';
import { startTask, type TaskRequest } from './start-task.ts';
import { waitForTask } from './wait-for-task.ts';
import type { WaitOptions } from './wait-until.ts';
import { withSession } from './with-session.ts';

/** "Start task (v2)", "Read task (v2)". */
export const taskCalls = ({ connection, sessions, waiting }: ClientContext) => ({
  /**
   * Credentials of mode `encrypted` are keyed by a session token, and sent with that one only: `sessionToken`,
   * or else the one in use. Others are sent once more with a new token after a 401, which started nothing.
   */
  startTask: async (request: TaskRequest, sessionToken?: string): Promise<string> => {
    // Before a login is made for it.
    checkTaskRequest(request);
    if (sessionToken !== undefined || request.credentials.mode === 'encrypted') {
      return startTask(connection, sessionToken ?? (await sessions.current()), request);
    }
    return withSession(sessions, (token) => startTask(connection, token, request));
  },

  readTask: (taskId: string): Promise<Task> =>
    withSession(sessions, (token) => readTypedTask(connection, token, taskId)),

  waitForTask: (taskId: string, options?: WaitOptions): Promise<Task> =>
    waitForTask(connection, sessions, taskId, waiting(options)),
});
