import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { endAtTimeout, observability, telemetry } from './powertools-telemetry.ts';

/** Replaces the error that a function threw. The function's log has the original. */
class InvocationFailed extends Error {
  override readonly name = 'InvocationFailed';
}

/**
 * The handler of a function without an HTTP caller, which only the timeout of Lambda ends early. The runtime logs the error that a function
 * throws, and Step Functions stores it in the execution's history. A message can quote anything, so the error is logged without its message,
 * and replaced. Errors of the classes in `except` pass, because their messages are fixed.
 */
export const backgroundHandler = <Event, Answer>(
  handle: (event: Event, context: Context) => Promise<Answer>,
  { except = [] }: { readonly except?: readonly (new (message: string) => Error)[] } = {},
) =>
  middy<Event, Answer>(endAtTimeout)
    .use(observability())
    .onError((request) => {
      if (except.some((kind) => request.error instanceof kind)) return;
      telemetry.failure('The invocation failed.', request.error);
      // The error is replaced. If one were thrown here, middy would attach the original to it, and the runtime would print that.
      request.error = new InvocationFailed("See the function's log.");
    })
    .handler(handle);
