import { createHash } from 'node:crypto';
import { stringify as formatUuid } from 'uuid';
import { keyedMac } from '../refused-credentials.ts';
import type { ExtractionRequest } from './parse-request.ts';

type IdempotencyKey =
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

/** What the parts of a fingerprint are made of. `shown`: what the record shows of the request. */
type Parts = {
  readonly shown: object;
  readonly raw?: object;
  readonly persisted?: string;
  readonly password?: unknown;
};

const partsOf = (request: ExtractionRequest): Parts => {
  if (request.method === 'consent') {
    // The consent names the user.
    const { target: _target, ...shown } = request;
    return { shown };
  }
  // These two differ in every retry: a random IV, a new login.
  const { sessionToken: _sessionToken, credentials, ...shown } = request;
  if (credentials.mode === 'encrypted') return { shown };
  if (credentials.mode === 'persisted') return { shown, persisted: credentials.value };
  const { password, ...raw } = credentials.value;
  return { shown, raw, password };
};

/**
 * Distinguishes a repeated request from another one under the same idempotency key. It has four MACs, so that who has the key and
 * the record cannot guess a password back. The MAC of the password has 8 bits, which 39 of 10,000 PINs share. It is of the password
 * alone. With other fields in it, each record of a user would fit another 39 PINs, and two records would leave one.
 */
export const fingerprint = (request: ExtractionRequest, key: string): string => {
  const { shown, raw, persisted, password } = partsOf(request);
  const part = (purpose: Parameters<typeof keyedMac>[1], value: unknown, bits: number): string =>
    value === undefined ? '' : keyedMac(key, purpose, value, bits);
  return [
    part('request', shown, 128),
    part('raw', raw, 64),
    part('persisted', persisted, 64),
    part('password', password, 8),
  ].join('-');
};
