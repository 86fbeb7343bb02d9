import { createHmac } from 'node:crypto';
import { isProgrammingError } from '../../../lib/client/is-programming-error.ts';
import { discardBody, showBody } from '../terminal/answer-body.ts';
import { codeOf } from '../terminal/errors.ts';

/** The secret's prefix in the Standard Webhooks specification. The rest is base64. */
export const secretPrefix = 'whsec_';

/**
 * The headers by which a handler verifies an event: https://www.standardwebhooks.com. The id is that of the event, so it is
 * the same in every repetition.
 */
const signEvent = (eventId: string, body: string, secret: string, now: Date) => {
  const timestamp = Math.floor(now.getTime() / 1_000).toString();
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  const signature = createHmac('sha256', key).update(`${eventId}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': eventId, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
};

type Posted = { readonly eventId: string; readonly body: string };

export type ForwardDeps = {
  readonly url: string;
  /** Why an answer with the status 2xx and this body is a failure all the same, or undefined. Absent where the status decides. */
  readonly failureIn?: (body: string) => string | undefined;
  readonly secret: string;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Called after a try that failed. `answer` is the status and the beginning of the body, or why there was no answer. */
  readonly onFailed: (answer: string, tries: number, retryAfterMs: number) => void;
  readonly signal: AbortSignal;
};

/** 1 s, doubled up to 30 s. It has no jitter, as there is one sender. */
const retryAfterMs = (tries: number): number => Math.min(1_000 * 2 ** (tries - 1), 30_000);

const timeoutMs = 30_000;

/** The status of a 2xx, or the reason why the event was not accepted. A redirect is not followed. */
const post = async (
  { eventId, body }: Posted,
  { url, secret, fetch, now, signal, failureIn }: ForwardDeps,
) => {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signEvent(eventId, body, secret, now()) },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (!answer.ok) return { refused: `${answer.status}${await showBody(answer)}` };
    // A body is read to its end only if it decides.
    const failure = failureIn?.(await answer.text());
    if (failureIn === undefined) await discardBody(answer);
    return failure === undefined ? { accepted: answer.status } : { refused: failure };
  } catch (error) {
    if (isProgrammingError(error)) throw error;
    const { cause, name } = error as Error;
    return { refused: `no answer (${String(codeOf(cause) ?? name)})` };
  }
};

/**
 * Posts an event until the handler answers 2xx. Returns that status, or undefined if the signal aborted before.
 *
 * It never skips an event: as with Lambda and a stream, an event that is refused holds up those after it.
 */
export const forwardEvent = async (event: Posted, deps: ForwardDeps): Promise<number | undefined> => {
  for (let tries = 1; !deps.signal.aborted; tries += 1) {
    const { accepted, refused } = await post(event, deps);
    if (accepted !== undefined) return accepted;
    if (deps.signal.aborted) return undefined;
    const pause = retryAfterMs(tries);
    deps.onFailed(refused, tries, pause);
    await deps.sleep(pause, deps.signal);
  }
  return undefined;
};
