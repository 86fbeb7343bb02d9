import {
  type ExtractionRequest,
  type RequestedExtraction,
  requestExtraction,
} from '../../../lib/client/request-extraction.ts';
import type { SignedFetch } from '../../../lib/client/signed-fetch.ts';
import { limitTo } from './limit-to.ts';

/** The API of the stage, called as an administrator or as another caller. */
export type AcceptApi = {
  /** POST /extractions. Repeats it after transient failures, and throws ApiError and NoAnswerError. */
  readonly request: (request: ExtractionRequest, idempotencyKey: string) => Promise<RequestedExtraction>;
  /** Any other call, signed. `target` is the national id of routes about consents. */
  readonly call: (
    method: 'GET' | 'POST',
    path: string,
    options?: { readonly target?: string; readonly body?: unknown; readonly as?: SignedFetch },
  ) => Promise<{ readonly status: number; readonly body: string }>;
};

/** More requests at once could exceed the concurrency of a new account, which is 10. */
const requestsAtOnce = 4;

export const acceptApi = (
  { base, fetch }: { readonly base: string; readonly fetch: SignedFetch },
  sleep: (milliseconds: number) => Promise<void>,
): AcceptApi => {
  const paced = limitTo(requestsAtOnce);
  return {
    request: (request, idempotencyKey) =>
      paced(() => requestExtraction(base, request, idempotencyKey, { fetch, sleep })),
    call: (method, path, { target, body, as = fetch } = {}) =>
      paced(async () => {
        const answer = await as(`${base}${path}`, {
          method,
          headers: {
            ...(target === undefined ? {} : { 'cosecha-target': target }),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return { status: answer.status, body: await answer.text() };
      }),
  };
};
