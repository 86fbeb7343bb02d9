import { defined } from '../defined.ts';
import type { ConsentQuery } from '../provider/consents/list-consents.ts';

type Query = Readonly<Record<string, string | undefined>>;

type ReadPageQuery =
  | { readonly kind: 'valid'; readonly query: Pick<ConsentQuery, 'page' | 'limit'> }
  | { readonly kind: 'invalid'; readonly detail: string };

/** A number from 1, with few enough digits to be exact. The provider checks upper bounds ("upper bounds of `limit`: not shown"). */
const wholeNumber = /^[1-9]\d{0,8}$/;

const isKnown = (name: string): boolean => name === 'page' || name === 'limit';

/** Parses `?page=…&limit=…` of the list of consents. The provider's defaults are 1 and 10. */
export const readPageQuery = (parameters: Query = {}): ReadPageQuery => {
  // Unknown parameters are refused. Otherwise a misspelt `page` would return the first page every time.
  if (!Object.keys(parameters).every(isKnown)) {
    return { kind: 'invalid', detail: 'Only page and limit are allowed as query parameters.' };
  }
  const invalid = (['page', 'limit'] as const).find((name) => !wholeNumber.test(parameters[name] ?? '1'));
  if (invalid !== undefined) {
    return { kind: 'invalid', detail: `The query parameter ${invalid} must be a whole number from 1.` };
  }
  const { page, limit } = parameters;
  return {
    kind: 'valid',
    query: defined({
      page: page === undefined ? undefined : Number(page),
      limit: limit === undefined ? undefined : Number(limit),
    }),
  };
};
