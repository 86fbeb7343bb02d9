/** Only in the published client (docs/provider-client.md). */

import { type SessionTokens, withSession } from '../tokens/session-tokens.ts';
import type { Connection } from '../transport/send-request.ts';
import { type WaitOptions, waitUntil } from '../transport/wait-until.ts';
import { type LegacyTaskReading, pollLegacyTask } from './poll-legacy-task.ts';

/** Polls a legacy task until it has ended. Throws as `waitUntil` does. */
export const waitForLegacyTask = (
  connection: Connection,
  sessions: SessionTokens,
  taskId: string,
  options: WaitOptions = {},
): Promise<LegacyTaskReading> =>
  waitUntil(
    connection,
    async (bounded) => {
      const reading = await withSession(sessions, (token) => pollLegacyTask(bounded, token, taskId));
      return reading.kind === 'finished' ? reading : undefined;
    },
    options,
  );
