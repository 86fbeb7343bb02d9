import { execFileSync } from 'node:child_process';

const openssl = (args: readonly string[], input: Uint8Array): Buffer =>
  execFileSync('openssl', args, { input, stdio: ['pipe', 'pipe', 'pipe'] });

/** `base64(ciphertext)-base64(IV)` by the provider's scheme, made by the openssl command alone. */
export const encryptWithOpenssl = (plaintext: Uint8Array, secret: string, iv: Uint8Array): string => {
  const key = openssl(['dgst', '-sha256', '-binary'], Buffer.from(secret, 'utf8')).toString('hex');
  const hexIv = Buffer.from(iv).toString('hex');
  const ciphertext = openssl(['enc', '-aes-256-cbc', '-K', key, '-iv', hexIv], plaintext);
  return `${ciphertext.toString('base64')}-${Buffer.from(iv).toString('base64')}`;
};
