import {
  ProviderAmbiguous,
  ProviderBusy,
  ProviderError,
  ProviderExtractionFailed,
  ProviderUnreachable,
} from '../provider/transport/errors.ts';
import { retryAtOf } from '../provider/transport/retry-after.ts';
import { TransportFailure } from '../provider/transport/transport-failure.ts';

/** A call was not made: the breaker is open, an operator paused such calls, or the provider asked to wait. */
export class ProviderPaused extends ProviderError {
  override readonly name = 'ProviderPaused';
}

/** What a call showed about the provider. */
export type Verdict =
  | { readonly kind: 'success' }
  /** The provider is in trouble. */
  | { readonly kind: 'trouble'; readonly retryAt?: number }
  /** Nothing: no call was made, or the failure is about this call alone. */
  | { readonly kind: 'nothing' };

/** Node refuses such a header before it connects, so this says nothing about the provider. */
const invalidHeader = 'ERR_INVALID_CHAR';

/**
 * Whether an error means that the provider is in trouble: a failed connect, a timeout, a reset or a 5xx. A 4xx never does,
 * nor does an answer that cannot be understood: both may be about one user or one task.
 */
const isTrouble = (error: unknown): boolean => {
  if (error instanceof ProviderUnreachable) {
    return !(error.cause instanceof TransportFailure && error.cause.code === invalidHeader);
  }
  if (error instanceof ProviderExtractionFailed) return error.status >= 500;
  if (!(error instanceof ProviderAmbiguous)) return false;
  return error.cause instanceof TransportFailure || (error.status ?? 0) >= 500;
};

/** What an error of a call showed. */
export const verdictOf = (error: unknown, now: Date): Verdict => {
  if (!isTrouble(error)) return { kind: 'nothing' };
  const retryAt = error instanceof ProviderError ? retryAtOf(error.retryAfter, now) : undefined;
  return retryAt === undefined ? { kind: 'trouble' } : { kind: 'trouble', retryAt };
};

/**
 * Before when the provider asked for no other call like this one, after a 429. It may be about one user ("process already
 * running"), so it delays one extraction, and not all of them.
 */
export const busyUntil = (error: unknown, now: Date): string | undefined => {
  const is429 =
    error instanceof ProviderBusy || (error instanceof ProviderExtractionFailed && error.status === 429);
  const retryAt = is429 ? retryAtOf(error.retryAfter, now) : undefined;
  return retryAt === undefined ? undefined : new Date(retryAt).toISOString();
};
