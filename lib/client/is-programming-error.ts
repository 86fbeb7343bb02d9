/** The code of undici for arguments of which it can make no request. */
const invalidArgument = 'UND_ERR_INVALID_ARG';

/**
 * Whether an error of `fetch` comes from the code that called it, not from the network. `fetch` throws a TypeError for both
 * (https://fetch.spec.whatwg.org/#fetch-method). In Node, a TypeError of the network has a `cause`. For an invalid URL or header it has
 * none, or a cause of the same kind. Errors of other classes, such as an abort, count as errors of the network.
 */
export const isProgrammingError = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  if ((error as NodeJS.ErrnoException).code === invalidArgument) return true;
  if (error instanceof TypeError) return error.cause === undefined || isProgrammingError(error.cause);
  return error instanceof ReferenceError || error instanceof RangeError || error instanceof SyntaxError;
};
