/** OpenSSL's and Node's names for "this certificate is not accepted": the handshake ended before any request. */
const certificateErrors = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

type SystemError = {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
};

/**
 * Whether a failed fetch surely put no byte of the request on the wire. Node reports the system call that
 * failed (`getaddrinfo`, `connect`: https://nodejs.org/api/errors.html#class-systemerror); with several
 * addresses it reports one AggregateError of them; undici has a code of its own for a connect that took too
 * long. Whatever is not in this list counts as sent: the start of a task must never be tried twice on a guess.
 */
export const wasNeverSent = (error: unknown): boolean => {
  if (typeof error !== 'object' || error === null) return false;
  const { code, syscall, cause, errors } = error as SystemError;
  if (Array.isArray(errors) && errors.length > 0) return errors.every(wasNeverSent);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  if (typeof code === 'string' && certificateErrors.has(code)) return true;
  if (syscall === 'getaddrinfo' || syscall === 'connect') return true;
  return cause === undefined ? false : wasNeverSent(cause);
};
