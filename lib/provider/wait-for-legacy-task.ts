import { type LegacyTaskReading, pollLegacyTask } from './poll-legacy-task.ts';
import type { Connection } from './send-request.ts';
import type { SessionTokens } from './session-tokens.ts';
import { type WaitOptions, waitUntil } from './wait-until.ts';
import { withSession } from './with-session.ts';

/** Polls a legacy task until it has ended, whichever way. Throws as `waitUntil` does. */
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
