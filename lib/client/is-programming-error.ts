/** From undici, for what no request can be made of. */
const invalidArgument = 'UND_ERR_INVALID_ARG';

/**
 * Whether an error of `fetch` is one of the code that called it, and not one of the network. `fetch` throws a TypeError for both
 * (https://fetch.spec.whatwg.org/#fetch-method): one of the network has its cause in Node. A header with other characters than
 * Latin-1 and an invalid URL have none, or one of the same kind. Errors of other classes, such as an abort, are taken for the network's.
 */
export const isProgrammingError = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  if ((error as NodeJS.ErrnoException).code === invalidArgument) return true;
  if (error instanceof TypeError) return error.cause === undefined || isProgrammingError(error.cause);
  return error instanceof ReferenceError || error instanceof RangeError || error instanceof SyntaxError;
};
