import { createSecretKey, type KeyObject } from 'node:crypto';

/** A signing key of the provider, in the two forms that are needed. Created once per fetch of the keys. */
export type SigningKey = {
  /** Decrypts an encrypted body ("Encryption scheme", with the signing key in place of the session token). */
  readonly text: string;
  /** The UTF-8 bytes of `text`, for HMAC. A text would be encoded and copied for each delivery. */
  readonly secret: KeyObject;
};

export const signingKeyOf = (text: string): SigningKey => ({ text, secret: createSecretKey(text, 'utf8') });
