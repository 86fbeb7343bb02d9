import { createDecipheriv, createHash } from 'node:crypto';

/**
 * Decrypts `<CIPHER_TEXT>-<IV>` under a session token ("Encryption scheme"). Undefined if the form or the token is wrong.
 * Standard base64 has no hyphen, so there is exactly one.
 */
export const decryptCredentials = (text: string, sessionToken: string): string | undefined => {
  const [ciphertext, iv, ...rest] = text.split('-').map(fromBase64);
  if (ciphertext === undefined || iv === undefined || rest.length > 0 || iv.length !== 16) return undefined;
  try {
    const key = createHash('sha256').update(sessionToken, 'utf8').digest();
    const decipher = createDecipheriv('aes-256-cbc', key, iv);
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
