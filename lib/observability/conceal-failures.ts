import type { MiddlewareObj } from '@middy/core';
import { telemetry } from './powertools-telemetry.ts';

/** Replaces the error that a function threw. The function's log has the original. */
class InvocationFailed extends Error {
  override readonly name = 'InvocationFailed';
}

/**
 * Middleware for functions without an HTTP caller. The runtime logs what they throw, and Step Functions stores it in
 * the execution's history. A message can quote anything, so each error is logged without it and replaced. Errors of
 * the classes in `known` pass, because their messages are fixed.
 */
export const concealFailures = (...known: readonly (new (message: string) => Error)[]): MiddlewareObj => ({
  onError: (request) => {
    if (known.some((kind) => request.error instanceof kind)) return;
    telemetry.failure('The invocation failed.', request.error);
    // Replaced, not thrown: middy would attach the original to an error thrown here, and the runtime would print it.
    request.error = new InvocationFailed("See the function's log.");
  },
});
