/** Only in the published client (docs/provider-client.md). */

import type { ClientContext } from '../client-context.ts';
import { encryptCredentials } from '../encrypt-and-decrypt.ts';
import { withSession } from '../tokens/session-tokens.ts';
import type { WaitOptions } from '../transport/wait-until.ts';
import type { Preset } from '../vocabulary.ts';
import { getUserStatus, type UserStatus, type UserStatusRequest } from './get-user-status.ts';
import { type Entity, listEntities } from './list-entities.ts';
import { type LegacyTaskReading, pollLegacyTask, waitForLegacyTask } from './poll-legacy-task.ts';
import { type LegacyTaskRequest, startLegacyTask } from './start-legacy-task.ts';

/** The input of a legacy start. The credentials are encrypted under the session token that they are sent with. */
export type LegacyTaskInput = Omit<LegacyTaskRequest, 'encryptArgs'> & {
  readonly credentials: Readonly<Record<string, unknown>>;
};

/** "Legacy v1 task API". */
export const legacyCalls = ({ connection, sessions, waiting }: ClientContext) => ({
  startLegacyTask: ({ credentials, ...request }: LegacyTaskInput, preset?: Preset): Promise<string> =>
    withSession(sessions, (token) => {
      const encryptArgs = encryptCredentials(credentials, token);
      return startLegacyTask(connection, token, { ...request, encryptArgs }, preset);
    }),

  pollLegacyTask: (taskId: string, preset?: Preset): Promise<LegacyTaskReading> =>
    withSession(sessions, (token) => pollLegacyTask(connection, token, taskId, preset)),

  waitForLegacyTask: (taskId: string, options?: WaitOptions): Promise<LegacyTaskReading> =>
    waitForLegacyTask(connection, sessions, taskId, waiting(options)),

  listEntities: (preset?: Preset): Promise<readonly Entity[]> =>
    withSession(sessions, (token) => listEntities(connection, token, preset)),

  getUserStatus: (request: UserStatusRequest, preset?: Preset): Promise<UserStatus> =>
    withSession(sessions, (token) => getUserStatus(connection, token, request, preset)),
});
