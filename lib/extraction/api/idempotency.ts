import { createHash } from 'node:crypto';
import { stringify as formatUuid } from 'uuid';
import { isIdempotencyKey } from '../../idempotency-key.ts';
import { keyedMac, userOf } from '../keyed-mac.ts';
import type { ValidRequest } from './parse-request.ts';

type IdempotencyKey =
  | { readonly kind: 'absent' }
  | { readonly kind: 'given'; readonly key: string }
  | { readonly kind: 'invalid'; readonly detail: string };

/**
 * Parses the header `Idempotency-Key`: 1 to 255 printable ASCII characters, used unchanged. Quotes, as in the IETF draft, are part of the
 * key.
 */
export const parseIdempotencyKey = (header: string | undefined): IdempotencyKey => {
  if (header === undefined) return { kind: 'absent' };
  if (isIdempotencyKey(header)) return { kind: 'given', key: header };
  return { kind: 'invalid', detail: 'The Idempotency-Key must have 1 to 255 printable ASCII characters.' };
};

/**
 * The extractionId for a caller's idempotency key: the first 16 bytes of SHA-256 over caller and key, as a UUIDv8 (RFC 9562, section 5.8).
 * With 122 bits, two keys collide by accident once in 2^61 extractions. Caller and key are hashed as a JSON list, so that no caller can
 * construct another caller's pair.
 */
export const extractionIdOf = (caller: string, idempotencyKey: string): string => {
  const bytes = createHash('sha256')
    .update(JSON.stringify([caller, idempotencyKey]))
    .digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  // `formatUuid` reads only the first 16 bytes.
  return formatUuid(bytes);
};

/** The inputs of a fingerprint. `shown` is what the record shows of the request, and `confirmed`. */
type Parts = {
  readonly shown: object;
  readonly raw?: object;
  readonly persisted?: string;
  readonly login?: { readonly user: object; readonly password: unknown };
};

const partsOf = (request: ValidRequest): Parts => {
  if (request.method === 'consent') {
    // The target is left out, because the consent names the user.
    const { target: _target, ...shown } = request;
    return { shown };
  }
  // Encrypted credentials and the session token are left out, because they differ in every retry: a random IV, and a new login.
  const { sessionToken: _sessionToken, credentials, ...shown } = request;
  if (credentials.mode === 'encrypted') return { shown };
  if (credentials.mode === 'persisted') return { shown, persisted: credentials.value };
  const { password, ...raw } = credentials.value;
  return password === undefined
    ? { shown, raw }
    : { shown, raw, login: { user: userOf(credentials.value), password } };
};

/** The caller, and the extraction whose record shows the fingerprint. */
type FingerprintOf = { readonly caller: string; readonly extractionId: string };

/**
 * Distinguishes a repeated request from another one under the same idempotency key. It has four MACs, so that nobody who has the key and
 * the record can guess the password.
 *
 * Three MACs are bound to the extraction, so that no two records can be compared. The MAC of the password has only 8 bits, so 39 of 10,000
 * PINs share it. It is bound to caller and user, so that a table of PINs for one user does not fit another. It is the same in all records
 * of one user. If it differed, each record would fit another 39 PINs, and two records would leave one.
 */
export const fingerprint = (
  request: ValidRequest,
  key: string,
  { caller, extractionId }: FingerprintOf,
): string => {
  const { shown, raw, persisted, login } = partsOf(request);
  const bound = (purpose: 'request' | 'raw' | 'persisted', value: unknown, bits: number): string =>
    value === undefined ? '' : keyedMac(key, purpose, [extractionId, value], bits);
  return [
    bound('request', shown, 128),
    bound('raw', raw, 64),
    bound('persisted', persisted, 64),
    login === undefined ? '' : keyedMac(key, 'password', [caller, login.user, login.password], 8),
  ].join('-');
};
