import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { signaturePattern } from '../provider/assumptions.ts';

/** A signing key of the provider. `version` names it in the log. */
export type KeyText = {
  /** Decrypts an encrypted body ("Encryption scheme", with the signing key in place of the session token). */
  readonly text: string;
  readonly version?: string;
};

/** The key in the two forms that are needed, made once per fetch of the keys. */
export type SigningKey = KeyText & {
  /** The UTF-8 bytes of `text`, for HMAC. A text would be encoded again for each delivery. */
  readonly secret: KeyObject;
};

export const signingKeyOf = (text: string, version?: string): SigningKey => ({
  text,
  ...(version === undefined ? {} : { version }),
  secret: createSecretKey(text, 'utf8'),
});

export type Verification =
  | { readonly verified: true; readonly key: string; readonly version?: string }
  | { readonly verified: false; readonly reason: 'missing' | 'malformed' | 'mismatch' };

const scheme = 'sha256=';

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
  const claimed = Buffer.from(header.slice(scheme.length), 'hex');
  let matched: SigningKey | undefined;
  for (const key of keys) {
    const expected = createHmac('sha256', key.secret).update(body).digest();
    if (timingSafeEqual(expected, claimed)) matched ??= key;
  }
  if (matched === undefined) return { verified: false, reason: 'mismatch' };
  const { text: key, version } = matched;
  return { verified: true, key, ...(version === undefined ? {} : { version }) };
};
