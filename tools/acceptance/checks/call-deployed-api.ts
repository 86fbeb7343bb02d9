import { type ExtractionRequest, requestExtraction } from '../../../lib/client/request-extraction.ts';
import type { SignedFetch } from '../../../lib/client/signed-fetch.ts';
import { defined } from '../../../lib/defined.ts';
import { limitParallelCalls } from '../../cli/operate/limit-parallel-calls.ts';
import { discardBody } from '../../cli/terminal/answer-body.ts';

/** Between a transient answer and the next try, in milliseconds. */
const retryAfterMs = 1_000;

/**
 * Sends a request, and again while the answer is transient, `most` times in all: 429 or 5xx, such as API Gateway's 503 for a
 * throttled function. The checks repeat nothing else, and every request of theirs may be repeated.
 */
export const fetchAgain = async (
  send: () => Promise<Response>,
  sleep: (milliseconds: number) => Promise<void>,
  most = 2,
): Promise<Response> => {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send();
    if ((answer.status !== 429 && answer.status < 500) || attempt === most) return answer;
    await discardBody(answer);
    await sleep(retryAfterMs);
  }
};

type CallOptions = {
  /** The national id of routes about consents. */
  readonly target?: string;
  readonly body?: unknown;
  readonly sender?: SignedFetch;
};

/** More requests at once could exceed the concurrency of a new account, which is 10. */
const requestsAtOnce = 4;

export const acceptApi = (
  { base, fetch }: { readonly base: string; readonly fetch: SignedFetch },
  sleep: (milliseconds: number) => Promise<void>,
) => {
  const paced = limitParallelCalls(requestsAtOnce);
  return {
    /** POST /extractions. Repeats it after transient failures, and throws ApiError and NoAnswerError. */
    request: (request: ExtractionRequest, idempotencyKey: string) =>
      paced(() => requestExtraction(base, request, idempotencyKey, { fetch, sleep })),
    /** Any other call, signed, as `fetchAgain`. */
    call: (method: 'GET' | 'POST', path: string, { target, body, sender = fetch }: CallOptions = {}) =>
      paced(async () => {
        const type = body === undefined ? undefined : 'application/json';
        const headers = defined({ 'cosecha-target': target, 'content-type': type });
        const request = {
          method,
          headers,
          ...defined({ body: body === undefined ? body : JSON.stringify(body) }),
        };
        const answer = await fetchAgain(() => sender(`${base}${path}`, request), sleep);
        return { status: answer.status, body: await answer.text() };
      }),
    /** The status of a GET that is sent at once and never repeated, for a check of the throttle. Signed by default. */
    statusAtOnce: async (path: string, sender = fetch): Promise<number> => {
      const answer = await sender(`${base}${path}`);
      await discardBody(answer);
      return answer.status;
    },
  };
};

export type AcceptApi = ReturnType<typeof acceptApi>;
