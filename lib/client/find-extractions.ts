import type { BatchSummary, PublicExtraction } from '../extraction/api/public-view.ts';
import { type SendDeps, sendWithRetries } from './send-with-retries.ts';

type Page = { readonly extractions: readonly PublicExtraction[]; readonly cursor?: string };

/** A reference, or a batch. */
export type ExtractionName = string | { readonly reference: string } | { readonly batch: string };

const queryOf = (name: ExtractionName): string => {
  const named = typeof name === 'string' ? { reference: name } : name;
  // Not URLSearchParams, which writes a space as `+`. SigV4 signs it as `%20`.
  return 'batch' in named
    ? `batch=${encodeURIComponent(named.batch)}`
    : `reference=${encodeURIComponent(named.reference)}`;
};

/**
 * Reads the extractions with a reference or of a batch page by page, the newest first, without their results. Throws ApiError
 * and NoAnswerError.
 */
export async function* findExtractions(
  apiUrl: string,
  name: ExtractionName,
  deps: SendDeps,
): AsyncGenerator<PublicExtraction, void> {
  const url = `${apiUrl}/extractions?${queryOf(name)}`;
  let page: Page | undefined;
  do {
    const next = page?.cursor === undefined ? '' : `&cursor=${encodeURIComponent(page.cursor)}`;
    page = JSON.parse((await sendWithRetries(`${url}${next}`, {}, deps)).body) as Page;
    yield* page.extractions;
  } while (page.cursor !== undefined);
}

/** Counts the extractions of a batch by status and advice. Throws ApiError and NoAnswerError. */
export const summarizeBatch = async (apiUrl: string, batch: string, deps: SendDeps): Promise<BatchSummary> =>
  JSON.parse((await sendWithRetries(`${apiUrl}/extractions/summary?${queryOf({ batch })}`, {}, deps)).body);
