import { createCipheriv, createHash, randomBytes } from 'node:crypto';

/**
 * The body of the encrypted mode, `{"data":"<CIPHER_TEXT>-<IV>"}` ("Events" 5). It uses the "Encryption scheme" with the
 * shared key instead of the session token: AES-256-CBC with PKCS padding under the SHA-256 of the key's UTF-8 bytes, both
 * halves in base64.
 */
export const encryptDelivery = (
  payload: string,
  signingKey: string,
  iv: Uint8Array = randomBytes(16),
): string => {
  const cipher = createCipheriv('aes-256-cbc', createHash('sha256').update(signingKey).digest(), iv);
  const ciphertext = Buffer.concat([cipher.update(payload, 'utf8'), cipher.final()]);
  return JSON.stringify({ data: `${ciphertext.toString('base64')}-${Buffer.from(iv).toString('base64')}` });
};
