import type { Credentials } from '../provider/tasks/task-request.ts';

/** The user's credentials and, where those are ciphertext keyed by the caller's own session token, that token. */
export type SealedCredentialsData = {
  readonly credentials: Credentials;
  readonly sessionToken?: string;
};

/** The national id of the user whose consent it is: what a Task Token is made for. */
export type SealedTargetData = { readonly target: string };

/** What is encrypted from intake on. Never stored, logged or shown in the clear. */
export type SealedRequestData = SealedCredentialsData | SealedTargetData;

/** KMS Encrypt takes at most 4,096 bytes under a symmetric key
 * (https://docs.aws.amazon.com/kms/latest/APIReference/API_Encrypt.html). */
export const sealLimitBytes = 4096;

export const encodeSealed = (plaintext: SealedRequestData): Uint8Array =>
  Buffer.from(JSON.stringify(plaintext), 'utf8');

/** Only for bytes that `encodeSealed` made of this kind, and that KMS authenticated as such. */
export const decodeSealed = <Plaintext extends SealedRequestData>(bytes: Uint8Array): Plaintext =>
  JSON.parse(Buffer.from(bytes).toString('utf8')) as Plaintext;
