import { createHmac, timingSafeEqual } from 'node:crypto';
import { signaturePattern } from '../provider/assumptions.ts';
import type { SigningKey } from './signing-keys.ts';

export type Verification =
  | { readonly verified: true; readonly key: string }
  | { readonly verified: false; readonly reason: 'missing' | 'malformed' | 'mismatch' };

const scheme = 'sha256=';

/**
 * The two digests that are compared, 32 bytes each. They can be shared: the code between their writes and the
 * comparison does not await. Two new Buffers per call would cost a tenth of a short verification (docs/decisions/0013).
 */
const claimed = Buffer.alloc(32);
const expected = Buffer.alloc(32);

/**
 * Verifies `X-Service-Signature: sha256=<hmac-hex>` over the raw body ("Events", rule 6). The HMAC-SHA256 key is the
 * UTF-8 bytes of a signing key. Every active key is compared in constant time, so that the duration does not reveal
 * which one matched. `body` is the bytes as received.
 */
export const verifySignature = (
  header: string | undefined,
  body: Uint8Array,
  keys: readonly SigningKey[],
): Verification => {
  if (header === undefined) return { verified: false, reason: 'missing' };
  // Node's hex decoder reads only the low byte of a character, and would decode U+0130 as 0.
  if (!signaturePattern.test(header)) return { verified: false, reason: 'malformed' };
  claimed.write(header.slice(scheme.length), 'hex');
  let matched: SigningKey | undefined;
  for (const key of keys) {
    // A 'binary' text has one character per byte. digest() without an encoding allocates a Buffer, which is slower.
    expected.write(createHmac('sha256', key.secret).update(body).digest('binary'), 'binary');
    if (timingSafeEqual(expected, claimed)) matched ??= key;
  }
  return matched === undefined
    ? { verified: false, reason: 'mismatch' }
    : { verified: true, key: matched.text };
};
