import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-cbc';

const keyOf = (secret: string): Buffer => createHash('sha256').update(secret, 'utf8').digest();

/**
 * Encrypts to `<CIPHER_TEXT>-<IV>` ("Encryption scheme"): AES-256-CBC with PKCS padding under the SHA-256 of the secret's UTF-8
 * bytes, both halves in base64. The secret is a session token or, of a delivery, the shared key.
 */
export const encrypt = (text: string, secret: string): string => {
  const iv = randomBytes(16);
  const cipher = createCipheriv(algorithm, keyOf(secret), iv);
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${ciphertext.toString('base64')}-${iv.toString('base64')}`;
};

/** Undefined if the form or the secret is wrong. Standard base64 has no hyphen, so there is exactly one. */
export const decrypt = (text: string, secret: string): string | undefined => {
  const [ciphertext, iv, ...rest] = text.split('-').map(fromBase64);
  if (ciphertext === undefined || iv === undefined || rest.length > 0 || iv.length !== 16) return undefined;
  try {
    const decipher = createDecipheriv(algorithm, keyOf(secret), iv);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
};

/** Undefined unless it is canonical base64: Buffer.from skips invalid characters. */
const fromBase64 = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
};
