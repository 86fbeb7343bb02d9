import { defined } from '../defined.ts';
import {
  ProviderAmbiguous,
  ProviderBusy,
  ProviderError,
  ProviderExtractionFailed,
  ProviderUnreachable,
} from '../provider/transport/errors.ts';
import { retryAtOf } from '../provider/transport/retry-after.ts';
import { TransportFailure } from '../provider/transport/transport-failure.ts';

/** What a start showed about its entity and the provider. */
export type Shown =
  /** A 2xx with a task id, and nothing else. */
  | { readonly kind: 'accepted' }
  /** They are in trouble. */
  | { readonly kind: 'failed'; readonly cause?: string; readonly retryAt?: number }
  /** It has taken so long that it counts as failed, and is still under way. */
  | { readonly kind: 'slow' }
  /** Nothing: no call was made, or it failed for a reason of its own, as with a 4xx or 429. */
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

/** When the provider asked to be called again, by an answer with one of these statuses. Milliseconds of the epoch. */
const retryAtOfStatus = (error: unknown, statuses: readonly number[], now: Date): number | undefined => {
  const status =
    error instanceof ProviderExtractionFailed || error instanceof ProviderAmbiguous
      ? error.status
      : undefined;
  const is429 = error instanceof ProviderBusy || status === 429;
  if (!(error instanceof ProviderError) || !statuses.includes(is429 ? 429 : (status ?? 0))) return undefined;
  return retryAtOf(error.retryAfter, now);
};

/** What an error in trouble was, as one of the public codes. Texts of the provider never become one. */
const causeOf = (error: unknown): string | undefined => {
  const { status, why } = error as { readonly status?: number; readonly why?: string };
  if (status !== undefined) return `http-${status}`;
  return error instanceof ProviderUnreachable ? 'unreachable' : why;
};

/** What the error of a login, a Task Token or a start showed. Only a 503 asks to wait for the provider as a whole (RFC 9110, section 15.6.4). */
export const shownBy = (error: unknown, now: Date): Shown => {
  if (!isTrouble(error)) return { kind: 'nothing' };
  const retryAt = retryAtOfStatus(error, [503], now);
  return { kind: 'failed', ...defined({ cause: causeOf(error), retryAt }) };
};

const isoOf = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

/**
 * Before when the provider asked for no other call about this extraction, as an ISO time. A 429 may be about one user
 * ("process already running"), and a 503 about one task. So each delays its own extraction, by the whole time.
 */
export const notBeforeOf = (error: unknown, now: Date): string | undefined =>
  isoOf(retryAtOfStatus(error, [429, 503], now));

/** The same of a call for a token. Its 503 is about all extractions, so that only the breaker waits. */
export const busyUntil = (error: unknown, now: Date): string | undefined =>
  isoOf(retryAtOfStatus(error, [429], now));
