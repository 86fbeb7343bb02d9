import * as v from 'valibot';
import { ProviderAmbiguous } from '../transport/errors.ts';
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

/**
 * Iterates over every consent of the Task Token's user, page by page, while `hasNext` is true ("List consents"). It requests a page when
 * the page's first consent is needed. If a consent is given meanwhile, another one moves to the next page. So a repeated consent is left
 * out. Throws as `listConsents` does. Throws ProviderAmbiguous for a page with `hasNext` and no new consent, which would be an endless
 * loop.
 */
export async function* iterateConsents(
  connection: Connection,
  taskToken: string,
  query: Omit<ConsentQuery, 'page'> = {},
): AsyncGenerator<Consent, void, undefined> {
  const seen = new Set<string>();
  for (let page = 1; ; page += 1) {
    const { consents, hasNext } = await listConsents(connection, taskToken, { ...query, page });
    const fresh = consents.filter(({ id }) => !seen.has(id));
    for (const { id } of fresh) seen.add(id);
    yield* fresh;
    if (!hasNext) return;
    if (fresh.length === 0) {
      throw new ProviderAmbiguous('The provider returned a page without a new consent, with hasNext.');
    }
  }
}
