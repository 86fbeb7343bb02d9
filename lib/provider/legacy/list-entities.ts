/** Only in the published client (docs/provider-client.md). */

import * as v from 'valibot';
import { bearer } from '../transport/field-schemas.ts';
import { type Connection, requestAnswer } from '../transport/send-request.ts';
import type { Preset } from '../vocabulary.ts';

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

const answerSchema: v.GenericSchema<unknown, readonly Entity[]> = v.array(
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
  requestAnswer(connection, answerSchema, {
    method: 'GET',
    path: '/api/v1/entities',
    query: { responseType },
    headers: bearer(sessionToken),
  });
