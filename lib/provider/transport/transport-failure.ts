import { NotConnected } from './fresh-connection-fetch.ts';

/**
 * The `cause` for a failure below HTTP. It keeps only name and code. Node attaches unparsed bytes to its errors, and
 * other clients quote a header.
 */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  readonly code: string | undefined;

  constructor(error: unknown) {
    const { name, code } = error instanceof Error ? (error as NodeJS.ErrnoException) : { name: typeof error };
    super(code ?? name);
    this.code = code;
  }
}

/** Codes of OpenSSL and Node for an invalid certificate. The handshake then ended before any request. */
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

/** Codes of connect timeouts, from undici and from Node's attempts at several addresses (happy eyeballs). */
const connectTimeouts = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ERR_SOCKET_CONNECTION_TIMEOUT']);

/**
 * Whether a failed fetch surely sent no byte of the request. Node reports the failed system call (`getaddrinfo`,
 * `connect`: https://nodejs.org/api/errors.html#class-systemerror), and an AggregateError for several addresses. Any
 * other error counts as sent, because a start must never be repeated on a guess.
 */
export const wasNeverSent = (error: unknown): boolean => {
  if (typeof error !== 'object' || error === null) return false;
  const { code, syscall, cause, errors } = error as SystemError;
  if (Array.isArray(errors) && errors.length > 0) return errors.every(wasNeverSent);
  if (error instanceof NotConnected) return true;
  if (typeof code === 'string' && (certificateErrors.has(code) || connectTimeouts.has(code))) return true;
  // An invalid header, which is detected before the connection is opened.
  if (code === 'ERR_INVALID_CHAR') return true;
  if (syscall === 'getaddrinfo' || syscall === 'connect') return true;
  return cause === undefined ? false : wasNeverSent(cause);
};
