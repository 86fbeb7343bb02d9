import * as v from 'valibot';
import { bearer, consentIdField } from '../transport/field-schemas.ts';
import { type Connection, requestAnswer } from '../transport/send-request.ts';
import type { ConsentStatus, ConsentSubStatus, EntityType, Open, ProductType } from '../vocabulary.ts';

/** "Consent", as the provider returns it. Other fields are kept too. */
export type Consent = {
  readonly id: string;
  readonly products: readonly Open<ProductType>[];
  /** The accepted version of terms and conditions. */
  readonly tyc: { readonly actualVersion: number };
  readonly entity: { readonly id: string; readonly name: string; readonly type: Open<EntityType> };
  readonly status: Open<ConsentStatus>;
  /** May be absent in list items. */
  readonly subStatus?: Open<ConsentSubStatus> | null | undefined;
  /** ISO 8601, as returned. */
  readonly validUntil: string;
  /** ISO 8601, as returned. Only for a terminated consent. */
  readonly terminatedAt?: string | null | undefined;
};

/** @internal Left out of the published types, which then need no valibot. */
export const consentSchema: v.GenericSchema<unknown, Consent> = v.looseObject({
  id: consentIdField,
  products: v.array(v.string()),
  tyc: v.looseObject({ actualVersion: v.pipe(v.number(), v.integer()) }),
  entity: v.looseObject({ id: v.string(), name: v.string(), type: v.string() }),
  status: v.string(),
  subStatus: v.nullish(v.string()),
  validUntil: v.string(),
  terminatedAt: v.nullish(v.string()),
});

const answerSchema = v.object({ data: consentSchema });

/** "Get consent". */
export const getConsent = async (
  connection: Connection,
  taskToken: string,
  consentId: string,
): Promise<Consent> => {
  const { data } = await requestAnswer(connection, answerSchema, {
    method: 'GET',
    path: '/api/v1/consents/{consentId}',
    ids: { consentId },
    headers: bearer(taskToken),
  });
  return data;
};
