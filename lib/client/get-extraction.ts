import type { PublicExtraction } from '../extraction/api/public-view.ts';
import { ApiError } from './api-errors.ts';
import { type SendDeps, sendWithRetries } from './send-with-retries.ts';

/**
 * Reads an extraction, with a new presigned URL where there are results. Undefined if there is none with this id, or if it
 * belongs to another caller. Throws ApiError and NoAnswerError.
 */
export const getExtraction = async (
  apiUrl: string,
  extractionId: string,
  deps: SendDeps,
): Promise<PublicExtraction | undefined> => {
  try {
    const { body } = await sendWithRetries(
      `${apiUrl}/extractions/${encodeURIComponent(extractionId)}`,
      {},
      deps,
    );
    return JSON.parse(body) as PublicExtraction;
  } catch (error) {
    if (error instanceof ApiError && error.problem === notFound) return undefined;
    throw error;
  }
};

const notFound = 'urn:cosecha:problem:not-found';
