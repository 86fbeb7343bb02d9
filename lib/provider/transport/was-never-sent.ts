import { NotConnected } from './fresh-connection.ts';

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

/** Codes of connect timeouts: undici's own, and Node's where happy eyeballs tried several addresses. */
const connectTimeouts = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ERR_SOCKET_CONNECTION_TIMEOUT']);

/**
 * Whether a failed fetch surely put no byte of the request on the wire. Node reports the system call that
 * failed (`getaddrinfo`, `connect`: https://nodejs.org/api/errors.html#class-systemerror); with several
 * addresses it reports one AggregateError of them. Whatever is not in this list counts as sent: the start of a task must never be tried twice on a guess.
 */
export const wasNeverSent = (error: unknown): boolean => {
  if (typeof error !== 'object' || error === null) return false;
  const { code, syscall, cause, errors } = error as SystemError;
  if (Array.isArray(errors) && errors.length > 0) return errors.every(wasNeverSent);
  if (error instanceof NotConnected) return true;
  if (typeof code === 'string' && (certificateErrors.has(code) || connectTimeouts.has(code))) return true;
  // A header that cannot be written: found before the connection is even opened.
  if (code === 'ERR_INVALID_CHAR') return true;
  if (syscall === 'getaddrinfo' || syscall === 'connect') return true;
  return cause === undefined ? false : wasNeverSent(cause);
};
