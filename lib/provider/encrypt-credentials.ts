import { createCipheriv, createHash, randomBytes } from 'node:crypto';

/**
 * "Encryption scheme": the credentials as JSON, AES-256-CBC with PKCS padding under the SHA-256 of the session
 * token, as `base64(ciphertext)-base64(IV)`. For sending with a request started under the same token, at most 60
 * minutes old; "never for storage". An IV must be random and used once: 16 bytes.
 */
export const encryptCredentials = (
  credentials: Readonly<Record<string, unknown>>,
  sessionToken: string,
  iv: Uint8Array = randomBytes(16),
): string => {
  const key = createHash('sha256').update(sessionToken, 'utf8').digest();
  const cipher = createCipheriv('aes-256-cbc', key, iv);
  const ciphertext = Buffer.concat([cipher.update(JSON.stringify(credentials), 'utf8'), cipher.final()]);
  return `${ciphertext.toString('base64')}-${Buffer.from(iv).toString('base64')}`;
};
