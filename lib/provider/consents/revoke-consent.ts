import * as v from 'valibot';
import { bearer } from '../transport/field-schemas.ts';
import { type Connection, endpointOf, requestAnswer } from '../transport/send-request.ts';
import type { ConsentStatus, ConsentSubStatus, Open } from '../vocabulary.ts';

/** The documented `status` is `INACTIVE`, and the `subStatus` is `REVOKED`. */
export type RevokedConsent = {
  readonly consentId: string;
  readonly status: Open<ConsentStatus>;
  readonly subStatus: Open<ConsentSubStatus>;
};

const answerSchema: v.GenericSchema<unknown, { data: RevokedConsent }> = v.object({
  data: v.object({ consentId: v.string(), status: v.string(), subStatus: v.string() }),
});

/**
 * "Revoke consent". Afterwards the consent allows no extraction. Endpoint and token are assumptions.
 * `Connection.endpoints` can replace the endpoint, whose path may contain `{consentId}`.
 */
export const revokeConsent = async (
  connection: Connection,
  taskToken: string,
  consentId: string,
): Promise<RevokedConsent> => {
  const { data } = await requestAnswer(connection, answerSchema, {
    ...endpointOf(connection, 'revokeConsent'),
    ids: { consentId },
    headers: bearer(taskToken),
    body: { consentId },
  });
  return data;
};
