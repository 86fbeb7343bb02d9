/** The result of POST /extractions after all retries. */
export type PostResult =
  | { readonly kind: 'answered'; readonly status: number; readonly body: string; readonly replayed: boolean }
  /** The last try got no answer, so the extraction may have been requested. */
  | { readonly kind: 'unanswered'; readonly cause: unknown };

export type PostDeps = {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly onRetry: (reason: string) => void;
};

/** Pauses before each retry, in milliseconds: 15 s in all. */
const pauses = [1_000, 2_000, 4_000, 8_000];

const attempt = async (url: string, init: RequestInit, fetch: PostDeps['fetch']): Promise<PostResult> => {
  try {
    const answer = await fetch(url, init);
    const replayed = answer.headers.get('idempotency-replayed') === 'true';
    return { kind: 'answered', status: answer.status, body: await answer.text(), replayed };
  } catch (cause) {
    return { kind: 'unanswered', cause };
  }
};

/** Whether a retry may succeed: after 5xx, API Gateway's 429, and no answer. */
export const isTransient = (result: PostResult): boolean =>
  result.kind === 'unanswered' || result.status >= 500 || result.status === 429;

/** Requests an extraction, and retries transient failures. The key makes that safe: all tries are one extraction. */
export const postExtraction = async (
  url: string,
  body: unknown,
  idempotencyKey: string,
  { fetch, sleep, onRetry }: PostDeps,
): Promise<PostResult> => {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
    body: JSON.stringify(body),
  };
  let result = await attempt(url, init, fetch);
  for (const pause of pauses) {
    if (!isTransient(result)) return result;
    onRetry(result.kind === 'answered' ? `The service answered ${result.status}.` : 'No answer came.');
    await sleep(pause);
    result = await attempt(url, init, fetch);
  }
  return result;
};
