import type { PublicExtraction } from '../extraction/api/public-view.ts';
import { type SendDeps, sendWithRetries } from './send-with-retries.ts';

type Page = { readonly extractions: readonly PublicExtraction[]; readonly cursor?: string };

/**
 * Reads the extractions with a reference page by page, the newest first, without their results. Throws ApiError and
 * NoAnswerError.
 */
export async function* findExtractions(
  apiUrl: string,
  reference: string,
  deps: SendDeps,
): AsyncGenerator<PublicExtraction, void> {
  // Not URLSearchParams, which writes a space as `+`. SigV4 signs it as `%20`.
  const url = `${apiUrl}/extractions?reference=${encodeURIComponent(reference)}`;
  let page: Page | undefined;
  do {
    const next = page?.cursor === undefined ? '' : `&cursor=${encodeURIComponent(page.cursor)}`;
    page = JSON.parse((await sendWithRetries(`${url}${next}`, {}, deps)).body) as Page;
    yield* page.extractions;
  } while (page.cursor !== undefined);
}
