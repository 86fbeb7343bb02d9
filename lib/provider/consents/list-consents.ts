import * as v from 'valibot';
import { bearer, checkRequest, positiveInteger } from '../transport/field-schemas.ts';
import { type Connection, requestAnswer } from '../transport/send-request.ts';
import { type Consent, consentSchema } from './get-consent.ts';

const path = '/api/v1/consents';

export type ConsentQuery = {
  /** From 1, which is the default. */
  readonly page?: number;
  /** Consents per page, 10 by default. The upper bound is not shown. */
  readonly limit?: number;
  /** Other query parameters. "The filter parameters themselves: not shown". */
  readonly filters?: Readonly<Record<string, string>>;
};

export type ConsentPage = {
  readonly consents: readonly Consent[];
  readonly hasNext: boolean;
  /** The number of all matching consents, not only on this page. */
  readonly count: number;
};

const requestSchema = v.object({ page: v.optional(positiveInteger), limit: v.optional(positiveInteger) });
const answerSchema: v.GenericSchema<unknown, { data: ConsentPage }> = v.object({
  data: v.object({
    consents: v.array(consentSchema),
    hasNext: v.boolean(),
    count: v.pipe(v.number(), v.integer()),
  }),
});

/** One page of the consents of the user that the Task Token is bound to ("List consents"). */
export const listConsents = async (
  connection: Connection,
  taskToken: string,
  { page, limit, filters }: ConsentQuery = {},
): Promise<ConsentPage> => {
  checkRequest(requestSchema, { page, limit }, path);
  const { data } = await requestAnswer(connection, answerSchema, {
    method: 'GET',
    path,
    query: { ...filters, page, limit },
    headers: bearer(taskToken),
  });
  return data;
};
