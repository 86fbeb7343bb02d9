/** Only in the published client (docs/provider-client.md). */

import * as v from 'valibot';
import { explainLegacyRefusal } from '../transport/explain-refusal.ts';
import { answerTaskId, bearer, checkRequest } from '../transport/field-schemas.ts';
import { type Connection, requestAnswer } from '../transport/send-request.ts';
import type { Preset } from '../vocabulary.ts';

const path = '/api/v1/tasks';

/** "Legacy v1 task API". */
export type LegacyTaskRequest = {
  /** `<entity_id>:<action_type>`, the `actions[].name` of an entity. */
  readonly action: string;
  /** `<CIPHER_TEXT>-<IV>`, from `encryptCredentials` with the session token. */
  readonly encryptArgs: string;
  /** "v1 used a boolean" ("Versioning", rule 2). Its effect in v1 is not shown. */
  readonly webhook?: boolean;
};

const requestSchema = v.object({
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
const answerSchema = v.object({ taskId: answerTaskId });

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
  checkRequest(requestSchema, request, path);
  const { taskId } = await requestAnswer(connection, answerSchema, {
    method: 'POST',
    path,
    query: { responseType },
    headers: bearer(sessionToken),
    body: request,
    explain: explainLegacyRefusal,
  });
  return taskId;
};
