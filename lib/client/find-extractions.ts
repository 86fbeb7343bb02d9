import type { BatchSummary, PublicExtraction } from '../extraction/api/public-view.ts';
import { type SendDeps, sendWithRetries } from './send-with-retries.ts';

type Page = { readonly extractions: readonly PublicExtraction[]; readonly cursor?: string };

/** A page of a list has no new extraction but a link to a next page, so the list would never end. */
export class RepeatedPageError extends Error {
  override readonly name = 'RepeatedPageError';

  constructor() {
    super('The API returned a page of extractions without a new one, and another after it.');
  }
}

/** A query for a reference or a batch. */
export type ExtractionName = string | { readonly reference: string } | { readonly batch: string };

const queryOf = (name: ExtractionName): string => {
  const named = typeof name === 'string' ? { reference: name } : name;
  // URLSearchParams would write a space as `+`, and SigV4 signs it as `%20`.
  return 'batch' in named
    ? `batch=${encodeURIComponent(named.batch)}`
    : `reference=${encodeURIComponent(named.reference)}`;
};

/**
 * Reads the extractions with a reference or of a batch, page by page, newest first, without their results. Throws ApiError, NoAnswerError
 * and RepeatedPageError.
 */
export async function* findExtractions(
  apiUrl: string,
  name: ExtractionName,
  deps: SendDeps,
): AsyncGenerator<PublicExtraction, void> {
  const url = `${apiUrl}/extractions?${queryOf(name)}`;
  const seen = new Set<string>();
  let page: Page | undefined;
  do {
    const next = page?.cursor === undefined ? '' : `&cursor=${encodeURIComponent(page.cursor)}`;
    page = JSON.parse((await sendWithRetries(`${url}${next}`, {}, deps)).body) as Page;
    const fresh = page.extractions.filter(({ extractionId }) => !seen.has(extractionId));
    if (fresh.length === 0 && page.cursor !== undefined) throw new RepeatedPageError();
    for (const { extractionId } of fresh) seen.add(extractionId);
    yield* fresh;
  } while (page.cursor !== undefined);
}

/** Counts the extractions of a batch by status and advice. Throws ApiError and NoAnswerError. */
export const summarizeBatch = async (apiUrl: string, batch: string, deps: SendDeps): Promise<BatchSummary> =>
  JSON.parse((await sendWithRetries(`${apiUrl}/extractions/summary?${queryOf({ batch })}`, {}, deps)).body);
