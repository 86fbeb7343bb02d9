import type { MiddlewareObj } from '@middy/core';
import { telemetry } from './powertools-telemetry.ts';

/** Replaces the error that a function threw. The function's log has the original. */
class InvocationFailed extends Error {
  override readonly name = 'InvocationFailed';
}

/**
 * Middleware for functions without an HTTP caller. The runtime logs the error that a function throws, and Step Functions stores it in the
 * execution's history. A message can quote anything, so the error is logged without its message, and replaced. Errors of the
 * classes in `except` pass, because their messages are fixed.
 */
export const concealFailures = ({
  except = [],
}: {
  readonly except?: readonly (new (message: string) => Error)[];
} = {}): MiddlewareObj => ({
  onError: (request) => {
    if (except.some((kind) => request.error instanceof kind)) return;
    telemetry.failure('The invocation failed.', request.error);
    // The error is replaced. If one were thrown here, middy would attach the original to it, and the runtime would print that.
    request.error = new InvocationFailed("See the function's log.");
  },
});
