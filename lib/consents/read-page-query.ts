import type { ConsentQuery } from '../provider/consents/list-consents.ts';

type Query = Readonly<Record<string, string | undefined>>;

export type ReadPageQuery =
  | { readonly kind: 'valid'; readonly query: Pick<ConsentQuery, 'page' | 'limit'> }
  | { readonly kind: 'invalid'; readonly detail: string };

/** From 1, and of few enough digits to be exact: "upper bounds of `limit`: not shown", so the provider judges. */
const wholeNumber = /^[1-9]\d{0,8}$/;

const isKnown = (name: string): boolean => name === 'page' || name === 'limit';

/** `?page=…&limit=…` of the list of consents. What is left out is left to the provider's defaults, 1 and 10. */
export const readPageQuery = (parameters: Query = {}): ReadPageQuery => {
  // Else a misspelt parameter would quietly give the first page, over and over.
  if (!Object.keys(parameters).every(isKnown)) {
    return { kind: 'invalid', detail: 'Only page and limit are known as query parameters.' };
  }
  const wrong = (['page', 'limit'] as const).find((name) => !wholeNumber.test(parameters[name] ?? '1'));
  if (wrong !== undefined) {
    return { kind: 'invalid', detail: `The query parameter ${wrong} must be a whole number from 1.` };
  }
  const { page, limit } = parameters;
  return {
    kind: 'valid',
    query: {
      ...(page === undefined ? {} : { page: Number(page) }),
      ...(limit === undefined ? {} : { limit: Number(limit) }),
    },
  };
};
