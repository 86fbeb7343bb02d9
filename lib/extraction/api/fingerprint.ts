import { createHmac } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';
import type { CredentialsRequest, ExtractionRequest } from './parse-request.ts';

const withoutCiphertext = ({ sessionToken: _sessionToken, ...request }: CredentialsRequest) => {
  const { credentials } = request;
  return {
    ...request,
    credentials: credentials.mode === 'encrypted' ? { mode: credentials.mode } : credentials,
  };
};

/**
 * Distinguishes a repeated request from another one under the same idempotency key. It is an HMAC-SHA256 under a secret
 * of the stack, in 64 lower-case hex digits, because raw credentials or a target could otherwise be guessed from it.
 * Encrypted credentials and session tokens are left out, because they differ in every retry (random IV, new login). Keys
 * are sorted, so that their order does not matter.
 */
export const fingerprint = (request: ExtractionRequest, secret: string): string => {
  const text = stringify(request.method === 'credentials' ? withoutCiphertext(request) : request);
  return createHmac('sha256', secret).update(String(text)).digest('hex');
};
