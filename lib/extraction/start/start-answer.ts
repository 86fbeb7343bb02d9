import { busyUntil } from '../../breaker/provider-trouble.ts';
import { NotConfigured } from '../../not-configured.ts';
import { ambiguousClientStatus, notAcceptedStatus } from '../../provider/assumptions.ts';
import {
  InvalidProviderRequest,
  ProviderBusy,
  ProviderError,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '../../provider/transport/errors.ts';
import { failureReason, problemOf } from '../provider-codes.ts';

/** Names of the errors that start-task reports. The machine retries all but the first two (design, section 5). */
export type RetryableStartError =
  /** The credentials are encrypted under a session token of the caller, for longer than that is valid. */
  | 'CiphertextExpired'
  /** The start window is over, and this is why nothing could have been started now. */
  | 'StartWindowOver'
  | 'ProviderBusy'
  /** No call was made: the breaker is open, or an operator paused starts. */
  | 'ProviderPaused'
  | 'ProviderUnreachable'
  | 'ProviderUnauthorized'
  /** The item of the request is not there. */
  | 'RequestDataGone'
  | 'StartInProgress';

/** The provider has no task: the start can be retried, but not before `notBefore`. */
export type NotAccepted = {
  readonly kind: 'not-accepted';
  readonly error: RetryableStartError;
  /** Why, as one of the public codes. */
  readonly problem: string;
  readonly notBefore: string | undefined;
};

/** What the answer to a start call means. */
export type StartCallResult =
  | { readonly kind: 'accepted'; readonly taskId: string }
  | NotAccepted
  | { readonly kind: 'refused'; readonly reason: string }
  /** A task may exist. */
  | { readonly kind: 'unknown'; readonly reason: string };

const retryName = (error: unknown): RetryableStartError | undefined => {
  if (error instanceof ProviderBusy) return 'ProviderBusy';
  if (error instanceof ProviderUnreachable) return 'ProviderUnreachable';
  if (error instanceof ProviderUnauthorized) return 'ProviderUnauthorized';
  return undefined;
};

/** `cause` is the answer, which may ask to wait. */
export const notAccepted = (
  error: RetryableStartError,
  { cause, problem, now }: { readonly cause: unknown; readonly problem: string; readonly now: Date },
): NotAccepted => ({
  kind: 'not-accepted',
  error,
  problem,
  notBefore: busyUntil(cause, now),
});

/** The result of an answer with an `errorType`. Only the v2 variant of an extraction by consent has such answers. */
const resultOfFailure = (failure: ProviderExtractionFailed, now: Date): StartCallResult => {
  if (failure.status === notAcceptedStatus) {
    return notAccepted('ProviderBusy', { cause: failure, problem: problemOf(failure), now });
  }
  if (failure.status < 500 && failure.status !== ambiguousClientStatus) {
    return { kind: 'refused', reason: failureReason(failure) };
  }
  return { kind: 'unknown', reason: failureReason(failure) };
};

/** The result of a start call that threw. A 401 is returned as such, because another token may help. */
export const resultOfError = (error: unknown, now: Date): StartCallResult | 'unauthorized' => {
  if (error instanceof ProviderUnauthorized) return 'unauthorized';
  if (error instanceof ProviderExtractionFailed) return resultOfFailure(error, now);
  const problem = problemOf(error);
  if (error instanceof ProviderRefused || error instanceof InvalidProviderRequest) {
    return { kind: 'refused', reason: problem };
  }
  const name = retryName(error);
  if (name !== undefined) return notAccepted(name, { cause: error, problem, now });
  return { kind: 'unknown', reason: problem === 'unexpected-answer' ? 'no-task-id' : problem };
};

/**
 * The error that the machine retries after a token could not be obtained. Creating a token starts nothing, so an
 * unanswered call is safe to retry too. Throws an error that is neither a ProviderError nor NotConfigured.
 */
export const tokenFailure = (error: unknown): RetryableStartError => {
  if (error instanceof NotConfigured) return 'ProviderUnauthorized';
  if (!(error instanceof ProviderError)) throw error;
  if (error instanceof ProviderRefused) return 'ProviderUnauthorized';
  return retryName(error) ?? 'ProviderUnreachable';
};
