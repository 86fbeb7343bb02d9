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
import { failureReason } from '../provider-codes.ts';

/** Names of the errors that start-task reports. The machine retries all but the first (design, section 5). */
export type RetryableStartError =
  /** The credentials are encrypted under a session token of the caller, for longer than that is valid. */
  | 'CiphertextExpired'
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
export const notAccepted = (error: RetryableStartError, cause: unknown, now: Date): NotAccepted => ({
  kind: 'not-accepted',
  error,
  notBefore: busyUntil(cause, now),
});

/** The result of an answer with an `errorType`. Only the v2 variant of an extraction by consent has such answers. */
const resultOfFailure = (failure: ProviderExtractionFailed, now: Date): StartCallResult => {
  if (failure.status === notAcceptedStatus) return notAccepted('ProviderBusy', failure, now);
  if (failure.status < 500 && failure.status !== ambiguousClientStatus) {
    return { kind: 'refused', reason: failureReason(failure) };
  }
  return { kind: 'unknown', reason: 'start-call-unanswered' };
};

/** The result of a start call that threw. A 401 is returned as such, because another token may help. */
export const resultOfError = (error: unknown, now: Date): StartCallResult | 'unauthorized' => {
  if (error instanceof ProviderUnauthorized) return 'unauthorized';
  if (error instanceof ProviderExtractionFailed) return resultOfFailure(error, now);
  if (error instanceof ProviderRefused) return { kind: 'refused', reason: `http-${error.status}` };
  if (error instanceof InvalidProviderRequest) return { kind: 'refused', reason: 'invalid-request' };
  const name = retryName(error);
  if (name !== undefined) return notAccepted(name, error, now);
  return { kind: 'unknown', reason: 'start-call-unanswered' };
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
