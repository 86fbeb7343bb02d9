/** How POST /extractions ended, after every try. */
export type PostResult =
  | { readonly kind: 'answered'; readonly status: number; readonly body: string; readonly replayed: boolean }
  /** No answer came to the last try: the extraction may have been requested. */
  | { readonly kind: 'unanswered'; readonly cause: unknown };

export type PostDeps = {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly onRetry: (why: string) => void;
};

/** Pauses before the second try and those after it, in milliseconds: 15 s in all. */
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

/** Only what may pass by itself: 5xx, API Gateway's 429, and no answer at all. */
const mayPass = (posted: PostResult): boolean =>
  posted.kind === 'unanswered' || posted.status >= 500 || posted.status === 429;

/**
 * Requests an extraction, and again under the same key for as long as that may help: the key makes the repeats safe,
 * as they are one extraction.
 */
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
  let posted = await attempt(url, init, fetch);
  for (const pause of pauses) {
    if (!mayPass(posted)) return posted;
    onRetry(posted.kind === 'answered' ? `it answered ${posted.status}` : 'no answer came');
    await sleep(pause);
    posted = await attempt(url, init, fetch);
  }
  return posted;
};
