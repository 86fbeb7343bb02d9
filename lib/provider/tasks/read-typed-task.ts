/** Only in the published client (docs/provider-client.md). */

import * as v from 'valibot';
import { type SessionTokens, withSession } from '../tokens/session-tokens.ts';
import { UnexpectedTaskResults } from '../transport/errors.ts';
import type { Connection } from '../transport/send-request.ts';
import { type WaitOptions, waitUntil } from '../transport/wait-until.ts';
import type { TaskStatus } from '../vocabulary.ts';
import {
  type ActionErrorCode,
  isTerminalTaskStatus,
  type Open,
  statusesWithoutResults,
  type TaskActionId,
} from '../vocabulary.ts';
import { readTask } from './read-task.ts';

/** One of `results.actions[]`. */
export type TaskActionResult = {
  readonly id: Open<TaskActionId>;
  readonly status: Open<'COMPLETED' | 'FAILED'>;
  /** An object for `product-balance`, an array for `movement`. Null or absent if nothing was delivered. */
  readonly output?: object | null | undefined;
  /** Only for a failed action. `message` is variable text, so never decide by it. */
  readonly error?:
    | { readonly code: Open<ActionErrorCode>; readonly message?: string | null | undefined }
    | null
    | undefined;
};

export type TaskResults = {
  /** The queried user identifier. */
  readonly username: string;
  /** Only if the credentials contained it. */
  readonly businessId?: string | null | undefined;
  readonly entityId: string;
  readonly actions: readonly TaskActionResult[];
};

export type ProviderTask = {
  readonly taskStatus: Open<TaskStatus>;
  /** Null for `CREDENTIALS_WRONG` and `CREDENTIALS_LOCKED`, and until the task has ended. */
  readonly results: TaskResults | null;
};

/** An object or a list. */
const output = v.custom<object>((value) => typeof value === 'object' && value !== null);

const resultsSchema: v.GenericSchema<unknown, TaskResults> = v.looseObject({
  username: v.string(),
  businessId: v.nullish(v.string()),
  entityId: v.string(),
  actions: v.array(
    v.looseObject({
      id: v.string(),
      status: v.string(),
      output: v.nullish(output),
      error: v.nullish(v.looseObject({ code: v.string(), message: v.nullish(v.string()) })),
    }),
  ),
});

/** Whether a v2 task has ended. An undocumented status counts as still running. */
export const isTaskOver = (taskStatus: string): boolean => isTerminalTaskStatus(taskStatus);

/**
 * Reads a v2 task and validates its results. Throws UnexpectedTaskResults, with the status, if an ended task has
 * results of another shape ("under development and may change"). Throws what `readTask` throws.
 */
export const readTypedTask = async (
  connection: Connection,
  sessionToken: string,
  taskId: string,
): Promise<ProviderTask> => {
  const { taskStatus, results } = await readTask(connection, sessionToken, taskId);
  const parsed = v.safeParse(resultsSchema, results);
  if (parsed.success) return { taskStatus, results: parsed.output };
  const mayBeNull = results === null && statusesWithoutResults.includes(taskStatus);
  if (isTaskOver(taskStatus) && !mayBeNull) throw new UnexpectedTaskResults(taskStatus);
  return { taskStatus, results: null };
};

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
