/** "Legacy v1 task API". Only in the published client (docs/provider-client.md), and in `doctor`. */

import * as v from 'valibot';
import { inProgressStatus, inProgressStatuses } from './assumptions.ts';
import { type SessionTokens, withSession } from './tokens/session-tokens.ts';
import { explainLegacyRefusal } from './transport/explain-refusal.ts';
import { answerTaskId, bearer, checkRequest, textField } from './transport/field-schemas.ts';
import { type Connection, exchange, parseAnswer, requestAnswer } from './transport/send-request.ts';
import { type WaitOptions, waitUntil } from './transport/wait-until.ts';
import type { LegacyTaskStatus, Open, Preset } from './vocabulary.ts';

/** "Entity listing item". */
export type Entity = {
  readonly name: string;
  readonly id: string;
  readonly enabled: boolean;
  readonly actions: readonly {
    /** `<entity_id>:<action_type>`, the `action` of a legacy task. */
    readonly name: string;
    readonly actionType: string;
    readonly enabled: boolean;
  }[];
};

const entitiesSchema: v.GenericSchema<unknown, readonly Entity[]> = v.array(
  v.looseObject({
    name: v.string(),
    id: v.string(),
    enabled: v.boolean(),
    actions: v.array(v.looseObject({ name: v.string(), actionType: v.string(), enabled: v.boolean() })),
  }),
);

/** "Legacy v1 task API", entities. Its token is not shown. The session token is assumed. */
export const listEntities = async (
  connection: Connection,
  sessionToken: string,
  { responseType }: Preset = {},
): Promise<readonly Entity[]> =>
  requestAnswer(connection, entitiesSchema, {
    method: 'GET',
    path: '/api/v1/entities',
    query: { responseType },
    headers: bearer(sessionToken),
  });

const statusPath = '/api/v1/users/status/by-entity';

/** "The request body: not shown". Assumed: these two fields, named as in `results` and in the path. */
export type UserStatusRequest = { readonly entityId: string; readonly username: string };

/** "User status by entity". `retryAfter` is ISO 8601, as returned. */
export type UserStatus = { readonly enabled: boolean; readonly retryAfter?: string | null | undefined };

const statusRequestSchema = v.object({ entityId: textField, username: textField });
const statusSchema: v.GenericSchema<unknown, UserStatus> = v.looseObject({
  enabled: v.boolean(),
  retryAfter: v.nullish(v.string()),
});

/** "Legacy v1 task API", user status. Its token is not shown. The session token is assumed. */
export const getUserStatus = async (
  connection: Connection,
  sessionToken: string,
  request: UserStatusRequest,
  { responseType }: Preset = {},
): Promise<UserStatus> => {
  checkRequest(statusRequestSchema, request, statusPath);
  return requestAnswer(connection, statusSchema, {
    method: 'POST',
    path: statusPath,
    query: { responseType },
    headers: bearer(sessionToken),
    body: request,
  });
};

const startPath = '/api/v1/tasks';

/** "Legacy v1 task API". */
export type LegacyTaskRequest = {
  /** `<entity_id>:<action_type>`, the `actions[].name` of an entity. */
  readonly action: string;
  /** `<CIPHER_TEXT>-<IV>`, from `encryptCredentials` with the session token. */
  readonly encryptArgs: string;
  /** "v1 used a boolean" ("Versioning", rule 2). Its effect in v1 is not shown. */
  readonly webhook?: boolean;
};

const taskRequestSchema = v.object({
  action: v.pipe(
    v.string('must be a string'),
    v.regex(/^[^:]+:[^:]+$/, 'must be of the form <entity_id>:<action_type>'),
  ),
  encryptArgs: v.pipe(
    v.string('must be a string'),
    v.regex(/^[^-]+-[^-]+$/, 'must be of the form <CIPHER_TEXT>-<IV>'),
  ),
  webhook: v.optional(v.boolean('must be true or false')),
});
const startedSchema = v.object({ taskId: answerTaskId });

/**
 * Starts a task with the legacy API and returns its taskId. An error for one of the documented texts has its name in
 * `refusal`. The call is not idempotent, as `startTask` is not.
 */
export const startLegacyTask = async (
  connection: Connection,
  sessionToken: string,
  request: LegacyTaskRequest,
  { responseType }: Preset = {},
): Promise<string> => {
  checkRequest(taskRequestSchema, request, startPath);
  const { taskId } = await requestAnswer(connection, startedSchema, {
    method: 'POST',
    path: startPath,
    query: { responseType },
    headers: bearer(sessionToken),
    body: request,
    explain: explainLegacyRefusal,
  });
  return taskId;
};

const pollPath = '/api/v1/tasks/{taskId}';

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

const readingSchema: v.GenericSchema<unknown, Omit<LegacyTaskReading, 'kind'>> = v.object({
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
    path: pollPath,
    ids: { taskId },
    query: { responseType },
    headers: bearer(sessionToken),
  });
  const answer = parseAnswer(bytes, readingSchema, pollPath);
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
