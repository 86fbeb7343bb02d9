import type { ErasureScope, PublicErasure } from '../extraction/api/public-view.ts';
import { readIfThere } from './get-extraction.ts';
import { type SendDeps, sendWithRetries } from './send-with-retries.ts';

/**
 * Asks to erase one of the caller's own extractions, or all with a reference. Throws ApiError, with 404 if the extraction is not there or
 * the deployment has no such route, and NoAnswerError.
 */
export const erase = async (apiUrl: string, scope: ErasureScope, deps: SendDeps): Promise<PublicErasure> => {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(scope) };
  return JSON.parse((await sendWithRetries(`${apiUrl}/erasures`, init, deps)).body);
};

/** Reads how far an erasure is. Undefined if it does not exist or belongs to another caller. Throws ApiError and NoAnswerError. */
export const getErasure = async (
  apiUrl: string,
  erasureId: string,
  deps: SendDeps,
): Promise<PublicErasure | undefined> => {
  const url = `${apiUrl}/erasures/${encodeURIComponent(erasureId)}`;
  const body = await readIfThere(url, 'urn:cosecha:problem:erasure-not-found', deps);
  return body === undefined ? undefined : JSON.parse(body);
};
