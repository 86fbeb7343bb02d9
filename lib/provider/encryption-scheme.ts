import { createDecipheriv, createHash } from 'node:crypto';

/** The text is not what the scheme describes, or not under this key. Never says which: no padding oracle. */
export class UndecryptableText extends Error {
  override readonly name = 'UndecryptableText';

  constructor() {
    super('The text could not be decrypted.');
  }
}

/** Standard base64 with its padding, nothing else: Buffer.from would skip whatever it does not know. */
const strictBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const ivBytes = 16;
const blockBytes = 16;

/**
 * Undoes the provider's "Encryption scheme": `base64(ciphertext)-base64(IV)`, AES-256-CBC with PKCS padding,
 * key = SHA-256 of `secret`'s UTF-8 bytes. Returns the plaintext bytes. Throws UndecryptableText for any text
 * that is malformed or does not decrypt, the same for every cause, and without a `cause` that would tell.
 */
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
    const decipher = createDecipheriv('aes-256-cbc', createHash('sha256').update(secret).digest(), ivRaw);
    return Buffer.concat([decipher.update(bytes), decipher.final()]);
  } catch {
    throw new UndecryptableText();
  }
};
