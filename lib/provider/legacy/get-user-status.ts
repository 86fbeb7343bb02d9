/** Only in the published client (docs/provider-client.md). */

import * as v from 'valibot';
import { bearer, checkRequest, textField } from '../transport/field-schemas.ts';
import { type Connection, requestAnswer } from '../transport/send-request.ts';
import type { Preset } from '../vocabulary.ts';

const path = '/api/v1/users/status/by-entity';

/** "The request body: not shown". Assumed: these two fields, named as in `results` and in the path. */
export type UserStatusRequest = { readonly entityId: string; readonly username: string };

/** "User status by entity". `retryAfter` is ISO 8601, as returned. */
export type UserStatus = { readonly enabled: boolean; readonly retryAfter?: string | null | undefined };

const requestSchema = v.object({ entityId: textField, username: textField });
const answerSchema: v.GenericSchema<unknown, UserStatus> = v.looseObject({
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
  checkRequest(requestSchema, request, path);
  return requestAnswer(connection, answerSchema, {
    method: 'POST',
    path,
    query: { responseType },
    headers: bearer(sessionToken),
    body: request,
  });
};
