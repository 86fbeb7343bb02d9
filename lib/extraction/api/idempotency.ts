import { createHash, createHmac } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';
import { stringify as formatUuid } from 'uuid';
import type { CredentialsRequest, ExtractionRequest } from './parse-request.ts';

export type IdempotencyKey =
  | { readonly kind: 'absent' }
  | { readonly kind: 'given'; readonly key: string }
  | { readonly kind: 'invalid'; readonly detail: string };

/**
 * Parses the header `Idempotency-Key`: 1 to 255 printable ASCII characters, used unchanged. The quotes of the IETF
 * draft's form are part of the key.
 */
export const parseIdempotencyKey = (header: string | undefined): IdempotencyKey => {
  if (header === undefined) return { kind: 'absent' };
  if (/^[\x20-\x7e]{1,255}$/.test(header)) return { kind: 'given', key: header };
  return { kind: 'invalid', detail: 'The Idempotency-Key must have 1 to 255 printable ASCII characters.' };
};

/**
 * The extractionId for a caller's idempotency key: the first 16 bytes of SHA-256 over both, as a UUIDv8 (RFC 9562,
 * section 5.8). With 122 bits, two keys collide by accident once in 2^61 extractions. Caller and key are hashed as a
 * JSON list, so that no caller can construct the pair of another caller.
 */
export const extractionIdOf = (caller: string, idempotencyKey: string): string => {
  const bytes = createHash('sha256')
    .update(JSON.stringify([caller, idempotencyKey]))
    .digest()
    .subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return formatUuid(bytes);
};

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
