import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/**
 * The provider's "Encryption scheme": `base64(ciphertext)-base64(IV)`, AES-256-CBC with PKCS padding. The key is the
 * SHA-256 of a secret's UTF-8 bytes.
 */

/** A text cannot be decrypted. All causes have the same error, so that it is no padding oracle. */
export class UndecryptableText extends Error {
  override readonly name = 'UndecryptableText';

  constructor() {
    super('The text could not be decrypted.');
  }
}

const algorithm = 'aes-256-cbc';
const ivBytes = 16;
const blockBytes = 16;

/** Standard base64 with its padding and nothing else. `Buffer.from` would skip any other character. */
const strictBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const keyOf = (secret: string): Buffer => createHash('sha256').update(secret, 'utf8').digest();

/**
 * Encrypts credentials under a session token, to send them with that token. They are "never for storage". `iv` is 16
 * random bytes that are used once.
 */
export const encryptCredentials = (
  credentials: Readonly<Record<string, unknown>>,
  sessionToken: string,
  iv: Uint8Array = randomBytes(ivBytes),
): string => {
  const cipher = createCipheriv(algorithm, keyOf(sessionToken), iv);
  const ciphertext = Buffer.concat([cipher.update(JSON.stringify(credentials), 'utf8'), cipher.final()]);
  return `${ciphertext.toString('base64')}-${Buffer.from(iv).toString('base64')}`;
};

/** Returns the plaintext bytes. Throws UndecryptableText without a `cause`. */
export const decryptText = (text: string, secret: string): Buffer => {
  const [ciphertext, iv, ...more] = text.split('-');
  if (ciphertext === undefined || iv === undefined || more.length > 0) throw new UndecryptableText();
  if (!strictBase64.test(ciphertext) || !strictBase64.test(iv)) throw new UndecryptableText();
  const bytes = Buffer.from(ciphertext, 'base64');
  const ivRaw = Buffer.from(iv, 'base64');
  if (ivRaw.length !== ivBytes || bytes.length === 0 || bytes.length % blockBytes !== 0) {
    throw new UndecryptableText();
  }
  try {
    const decipher = createDecipheriv(algorithm, keyOf(secret), ivRaw);
    return Buffer.concat([decipher.update(bytes), decipher.final()]);
  } catch {
    throw new UndecryptableText();
  }
};

/** Undoes `encryptCredentials`. Throws UndecryptableText, also if the plaintext is not a JSON object. */
export const decryptCredentials = (text: string, sessionToken: string): Record<string, unknown> => {
  const bytes = decryptText(text, sessionToken);
  let credentials: unknown;
  try {
    credentials = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    // JSON.parse's error quotes the plaintext.
    throw new UndecryptableText();
  }
  if (typeof credentials !== 'object' || credentials === null || Array.isArray(credentials)) {
    throw new UndecryptableText();
  }
  return credentials as Record<string, unknown>;
};
