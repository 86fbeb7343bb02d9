import { createHmac, timingSafeEqual } from 'node:crypto';
import { signaturePattern } from '../provider/assumptions.ts';
import type { SigningKey } from './signing-key.ts';

export type Verification =
  | { readonly verified: true; readonly key: string }
  | { readonly verified: false; readonly reason: 'missing' | 'malformed' | 'mismatch' };

const scheme = 'sha256=';

/**
 * The two digests that are compared, 32 bytes each. Made once: nothing here awaits, so no two deliveries use them
 * at a time, and both are written whole before each comparison. Two Buffers for every call, even from Node's
 * pool, cost a tenth of a short delivery's check (docs/decisions/0013).
 */
const claimed = Buffer.alloc(32);
const expected = Buffer.alloc(32);

/**
 * Checks `X-Service-Signature: sha256=<hmac-hex>` over the raw body ("Events", rule 6): HMAC-SHA256 under the
 * UTF-8 bytes of a signing key, compared in constant time, against every active key, so that how long it takes
 * does not tell which of them matched. `body` is the bytes as received, before any decoding or parsing.
 */
export const verifySignature = (
  header: string | undefined,
  body: Uint8Array,
  keys: readonly SigningKey[],
): Verification => {
  if (header === undefined) return { verified: false, reason: 'missing' };
  // Not left to the decoder of hex: it looks at the low byte of a character only, and takes U+0130 for a 0.
  if (!signaturePattern.test(header)) return { verified: false, reason: 'malformed' };
  claimed.write(header.slice(scheme.length), 'hex');
  let matched: SigningKey | undefined;
  for (const key of keys) {
    // As text, a character for each byte: the Buffer of a bare digest() gets memory of its own, which costs more.
    expected.write(createHmac('sha256', key.secret).update(body).digest('binary'), 'binary');
    if (timingSafeEqual(expected, claimed)) matched ??= key;
  }
  return matched === undefined
    ? { verified: false, reason: 'mismatch' }
    : { verified: true, key: matched.text };
};
