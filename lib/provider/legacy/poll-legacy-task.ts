/** Only in the published client (docs/provider-client.md). */

import * as v from 'valibot';
import { inProgressStatus, inProgressStatuses } from '../assumptions.ts';
import { type SessionTokens, withSession } from '../tokens/session-tokens.ts';
import { bearer } from '../transport/field-schemas.ts';
import { type Connection, exchange, parseAnswer } from '../transport/send-request.ts';
import { type WaitOptions, waitUntil } from '../transport/wait-until.ts';
import type { LegacyTaskStatus, Open, Preset } from '../vocabulary.ts';

const path = '/api/v1/tasks/{taskId}';

/**
 * Empty unless the task succeeded. The items of `data` depend on the action. `isTefRecipient` accepts the items of `tef`.
 */
export type LegacyTaskResults = {
  readonly username?: string | null | undefined;
  readonly entityId?: string | null | undefined;
  readonly data?: readonly unknown[] | null | undefined;
};

/**
 * `wrong_login`, `locked` (code 401) and `error` (code 500) are outcomes of the task inside an HTTP 200. They are not
 * failures of the call.
 */
export type LegacyTaskReading = {
  readonly kind: 'in-progress' | 'finished';
  readonly taskStatus: Open<LegacyTaskStatus>;
  readonly taskStatusCode: number;
  readonly results?: LegacyTaskResults | null | undefined;
};

const answerSchema: v.GenericSchema<unknown, Omit<LegacyTaskReading, 'kind'>> = v.object({
  taskStatus: v.string(),
  taskStatusCode: v.pipe(v.number(), v.integer()),
  results: v.nullish(
    v.looseObject({
      username: v.nullish(v.string()),
      entityId: v.nullish(v.string()),
      data: v.nullish(v.array(v.unknown())),
    }),
  ),
});

/** "Legacy v1 task API", poll. */
export const pollLegacyTask = async (
  connection: Connection,
  sessionToken: string,
  taskId: string,
  { responseType }: Preset = {},
): Promise<LegacyTaskReading> => {
  const { status, bytes } = await exchange(connection, {
    method: 'GET',
    path,
    ids: { taskId },
    query: { responseType },
    headers: bearer(sessionToken),
  });
  const answer = parseAnswer(bytes, answerSchema, path);
  const inProgress =
    status === inProgressStatus ||
    answer.taskStatusCode === inProgressStatus ||
    inProgressStatuses.includes(answer.taskStatus);
  return { kind: inProgress ? 'in-progress' : 'finished', ...answer };
};

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
