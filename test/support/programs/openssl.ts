import { spawnSync } from 'node:child_process';

/** The `openssl` command as an independent implementation of signatures and ciphertexts. */
export const openssl = {
  hmacHex: (bytes: Uint8Array, key: string): string => {
    const hexKey = Buffer.from(key, 'utf8').toString('hex');
    const text = run(
      ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${hexKey}`, '-r'],
      bytes,
    ).toString();
    return text.split(' ')[0] ?? '';
  },
  sha256Hex: (text: string): string =>
    run(['dgst', '-sha256', '-r'], Buffer.from(text)).toString().split(' ')[0] ?? '',
  encrypt: (plaintext: Uint8Array, keyHex: string, ivHex: string): Buffer =>
    run(['enc', '-aes-256-cbc', '-K', keyHex, '-iv', ivHex], plaintext),
  decrypt: (ciphertext: Uint8Array, keyHex: string, ivHex: string): string =>
    run(['enc', '-d', '-aes-256-cbc', '-K', keyHex, '-iv', ivHex], ciphertext).toString('utf8'),
};

const run = (args: readonly string[], input: Uint8Array): Buffer => {
  const { status, stdout, stderr, error } = spawnSync('openssl', args, { input });
  if (status !== 0) throw new Error(`openssl ${args[0]} failed: ${stderr ?? ''}`, { cause: error });
  return stdout;
};

/** Encrypts to `<CIPHER_TEXT>-<IV>` under a token or key, with the openssl command only. */
export const encryptedByOpenssl = (
  plaintext: string | Uint8Array,
  keyText: string,
  iv: Uint8Array = Buffer.from('000102030405060708090a0b0c0d0eff', 'hex'),
): string => {
  const key = openssl.sha256Hex(keyText);
  const ciphertext = openssl.encrypt(Buffer.from(plaintext), key, Buffer.from(iv).toString('hex'));
  return `${ciphertext.toString('base64')}-${Buffer.from(iv).toString('base64')}`;
};

export const decryptedByOpenssl = (text: string, keyText: string): string => {
  const [ciphertext = '', iv = ''] = text.split('-');
  return openssl.decrypt(
    Buffer.from(ciphertext, 'base64'),
    openssl.sha256Hex(keyText),
    Buffer.from(iv, 'base64').toString('hex'),
  );
};
