import type { Credentials } from '../provider/tasks/start-task.ts';

// This file is separate from request-data.ts, because the client's published types name these types and no store.

/** The user's credentials. If they are encrypted under a session token of the caller, also that token. */
export type SealedCredentialsData = {
  readonly credentials: Credentials;
  readonly sessionToken?: string;
  /** The user has confirmed the credentials since the bank refused them. */
  readonly confirmed?: true;
};

/** The national id of the user who gave the consent. Task Tokens are created for this user. */
export type SealedTargetData = { readonly target: string };

/** The part of a request that is encrypted at intake. It is never stored, logged or shown unencrypted. */
export type SealedRequestData = SealedCredentialsData | SealedTargetData;

/** KMS Encrypt takes at most 4,096 bytes under a symmetric key
 * (https://docs.aws.amazon.com/kms/latest/APIReference/API_Encrypt.html). */
export const sealLimitBytes = 4096;

export const encodeSealed = (plaintext: SealedRequestData): Uint8Array =>
  Buffer.from(JSON.stringify(plaintext), 'utf8');

/** Decodes bytes of `encodeSealed`. KMS has authenticated them and their kind, so they are not validated. */
export const decodeSealed = <Plaintext extends SealedRequestData>(bytes: Uint8Array): Plaintext =>
  JSON.parse(Buffer.from(bytes).toString('utf8')) as Plaintext;
