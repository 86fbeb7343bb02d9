import type { Credentials } from '../provider/start-task.ts';

/**
 * What is encrypted between intake and start-task: the user's credentials and, where those are ciphertext
 * keyed by the caller's own session token, that token. Never stored, logged or shown in the clear.
 */
export type SealedPlaintext = {
  readonly credentials: Credentials;
  readonly sessionToken?: string;
};

/** KMS Encrypt takes at most 4,096 bytes under a symmetric key
 * (https://docs.aws.amazon.com/kms/latest/APIReference/API_Encrypt.html). */
export const sealLimitBytes = 4096;

export const encodeSealed = (plaintext: SealedPlaintext): Uint8Array =>
  Buffer.from(JSON.stringify(plaintext), 'utf8');

/** Only for bytes that `encodeSealed` made and KMS authenticated. */
export const decodeSealed = (bytes: Uint8Array): SealedPlaintext =>
  JSON.parse(Buffer.from(bytes).toString('utf8')) as SealedPlaintext;
