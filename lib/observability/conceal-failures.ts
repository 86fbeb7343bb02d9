import type { MiddlewareObj } from '@middy/core';
import { logFailure } from './observability.ts';

/** What a function throws instead of what went wrong in it; that is in its log. */
class InvocationFailed extends Error {
  override readonly name = 'InvocationFailed';
}

/**
 * For functions that are not asked over HTTP: what they throw is written to the log by the runtime and to the
 * execution's history by Step Functions, message included, and messages may quote anything. `known` errors,
 * whose messages are ours, pass.
 */
export const concealFailures = (...known: readonly (new (message: string) => Error)[]): MiddlewareObj => ({
  onError: (request) => {
    if (known.some((kind) => request.error instanceof kind)) return;
    logFailure('The invocation failed.', request.error);
    // Replaced, not thrown: middy would hang the original on what is thrown here, and the runtime prints it.
    request.error = new InvocationFailed("See the function's log.");
  },
});
