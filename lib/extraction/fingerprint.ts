import { createHmac } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';
import type { ExtractionRequest } from './parse-request.ts';

/**
 * Tells a repeated request from another one under the same idempotency key: HMAC-SHA256 under a secret of the
 * stack, as the raw credentials in it would otherwise be open to guessing from the record. Encrypted
 * credentials and session tokens are left out: they differ at every honest retry (random IV, new login).
 * Keys are sorted, so that two spellings of one JSON value agree. Lower-case hex, 64 characters.
 */
export const fingerprint = (request: ExtractionRequest, secret: string): string => {
  const { entity, actions, reference, credentials } = request;
  const identity = credentials.mode === 'encrypted' ? { mode: credentials.mode } : credentials;
  const text = stringify({ method: 'credentials', entity, actions, reference, credentials: identity });
  return createHmac('sha256', secret).update(String(text)).digest('hex');
};
