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
 * Tells a repeated request from another one under the same idempotency key: HMAC-SHA256 under a secret of the
 * stack, as the raw credentials or the target in it would otherwise be open to guessing from the record. Encrypted
 * credentials and session tokens are left out: they differ at every honest retry (random IV, new login).
 * Keys are sorted, so that two spellings of one JSON value agree. Lower-case hex, 64 characters.
 */
export const fingerprint = (request: ExtractionRequest, secret: string): string => {
  const text = stringify(request.method === 'credentials' ? withoutCiphertext(request) : request);
  return createHmac('sha256', secret).update(String(text)).digest('hex');
};
