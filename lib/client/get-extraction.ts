import type { PublicExtraction } from '../extraction/api/public-view.ts';
import { ApiError } from './api-errors.ts';
import { type SendDeps, sendWithRetries } from './send-with-retries.ts';

/**
 * Reads an extraction, with a new presigned URL if there are results. Undefined if it does not exist or belongs to another caller. Throws
 * ApiError and NoAnswerError.
 */
export const getExtraction = async (
  apiUrl: string,
  extractionId: string,
  deps: SendDeps,
): Promise<PublicExtraction | undefined> => {
  const url = `${apiUrl}/extractions/${encodeURIComponent(extractionId)}`;
  const body = await readIfThere(url, 'urn:cosecha:problem:not-found', deps);
  return body === undefined ? undefined : JSON.parse(body);
};

/** Reads the body at a URL. Returns undefined if the answer is the problem `notThere`. */
export const readIfThere = async (
  url: string,
  notThere: string,
  deps: SendDeps,
): Promise<string | undefined> => {
  try {
    return (await sendWithRetries(url, {}, deps)).body;
  } catch (error) {
    if (error instanceof ApiError && error.problem === notThere) return undefined;
    throw error;
  }
};
