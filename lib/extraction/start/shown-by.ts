import type { Shown } from '../../breaker/circuit-breaker.ts';
import { defined } from '../../defined.ts';
import {
  ProviderAmbiguous,
  ProviderExtractionFailed,
  ProviderUnreachable,
  retryAtOfStatus,
} from '../../provider/transport/errors.ts';
import { TransportFailure } from '../../provider/transport/transport-failure.ts';

/** Node refuses such a header before it connects. So the error shows nothing about the provider. */
const invalidHeader = 'ERR_INVALID_CHAR';

/**
 * Whether an error means that the provider is in trouble: a failed connect, a timeout, a reset or a 5xx. A 4xx or an unreadable answer does
 * not, because it may concern only one user or task.
 */
const isTrouble = (error: unknown): boolean => {
  if (error instanceof ProviderUnreachable) {
    return !(error.cause instanceof TransportFailure && error.cause.code === invalidHeader);
  }
  if (error instanceof ProviderExtractionFailed) return error.status >= 500;
  if (!(error instanceof ProviderAmbiguous)) return false;
  return error.cause instanceof TransportFailure || (error.status ?? 0) >= 500;
};

/** The public code of such an error. It never contains a text of the provider. */
const causeOf = (error: unknown): string | undefined => {
  const { status, reason } = error as { readonly status?: number; readonly reason?: string };
  if (status !== undefined) return `http-${status}`;
  return error instanceof ProviderUnreachable ? 'unreachable' : reason;
};

/** What the error of a login, a Task Token or a start showed. Only a 503 asks to wait for the whole provider (RFC 9110, section 15.6.4). */
export const shownBy = (error: unknown, now: Date): Shown => {
  if (!isTrouble(error)) return { kind: 'nothing' };
  const retryAt = retryAtOfStatus(error, [503], now);
  return { kind: 'failed', ...defined({ cause: causeOf(error), retryAt }) };
};
