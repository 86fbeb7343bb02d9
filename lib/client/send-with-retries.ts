import { defined } from '../defined.ts';
import { ApiError, isTransientStatus, NoAnswerError } from './api-errors.ts';
import { isProgrammingError } from './is-programming-error.ts';
import { NoCredentialsError, type SignedFetch } from './signed-fetch.ts';

export type SendDeps = {
  readonly fetch: SignedFetch;
  /** Should reject once `signal` is aborted. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly signal?: AbortSignal;
  /** Called before each retry, with its reason as a sentence. */
  readonly onRetry?: (reason: string) => void;
};

/** An answer of any status. `sendWithRetries` returns only 2xx. */
export type Answer = { readonly status: number; readonly headers: Headers; readonly body: string };

/** Pauses before each retry, in milliseconds: 15 s in all. */
const pauses = [1_000, 2_000, 4_000, 8_000];

/** Resolves as `work`, or rejects with the signal's reason once it is aborted. Some implementations of fetch ignore the signal. */
const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });

/** Sends once. Throws NoAnswerError, NoCredentialsError, and programming errors. */
export const sendOnce = async (
  url: string,
  init: RequestInit,
  { fetch, signal }: Pick<SendDeps, 'fetch' | 'signal'>,
): Promise<Answer> => {
  const exchange = async (): Promise<Answer> => {
    const answer = await fetch(url, { ...init, ...defined({ signal }) });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  };
  signal?.throwIfAborted();
  try {
    return await (signal === undefined ? exchange() : untilAborted(exchange(), signal));
  } catch (cause) {
    signal?.throwIfAborted();
    if (isProgrammingError(cause) || cause instanceof NoCredentialsError) throw cause;
    throw new NoAnswerError(url, { cause });
  }
};

/** A failure that a retry may resolve. Credentials can fail for a moment if a server provides them. */
type Failure = NoAnswerError | NoCredentialsError;

/** The reason for a retry as a sentence, or undefined if a retry would change nothing. */
const retryReason = (result: Answer | Failure): string | undefined => {
  if (result instanceof NoAnswerError) return 'No answer came.';
  if (result instanceof NoCredentialsError) return 'There were no credentials.';
  return isTransientStatus(result.status) ? `The service answered ${result.status}.` : undefined;
};

/** How far this machine's clock is ahead of the answer's `Date`, in whole minutes. 0 without a `Date`. */
const minutesOff = ({ headers }: Answer, now: number): number => {
  const answeredAt = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(answeredAt) ? 0 : Math.round((now - answeredAt) / 60_000);
};

export const apiErrorOf = (answer: Answer): ApiError =>
  new ApiError(answer.status, answer.body, minutesOff(answer, Date.now()));

const caught = (error: unknown): Failure => {
  if (error instanceof NoAnswerError || error instanceof NoCredentialsError) return error;
  throw error;
};

/**
 * Sends a request that is safe to repeat. After no answer, 5xx or 429 it is sent again, five times in all over 15 s. Throws ApiError for an
 * answer that is not 2xx, NoAnswerError if the last try got none, the error of the credentials' provider, and the reason of `signal` as
 * soon as it is aborted. Programming errors are thrown at once.
 */
export const sendWithRetries = async (url: string, init: RequestInit, deps: SendDeps): Promise<Answer> => {
  let result = await sendOnce(url, init, deps).catch(caught);
  for (const pause of pauses) {
    const reason = retryReason(result);
    if (reason === undefined) break;
    deps.onRetry?.(reason);
    await deps.sleep(pause);
    result = await sendOnce(url, init, deps).catch(caught);
  }
  if (result instanceof NoCredentialsError) throw result.cause;
  if (result instanceof NoAnswerError) throw result;
  if (result.status >= 300) throw apiErrorOf(result);
  return result;
};
