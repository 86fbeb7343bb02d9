import { createSecretKey, type KeyObject } from 'node:crypto';

/** A signing key of the provider, in both forms that a delivery asks for. Made once for each fetch of the keys. */
export type SigningKey = {
  /** What decrypts an encrypted body ("Encryption scheme", with the signing key for the session token). */
  readonly text: string;
  /** The UTF-8 bytes of `text`, for HMAC: a key given as text would be encoded and copied at every delivery. */
  readonly secret: KeyObject;
};

export const signingKeyOf = (text: string): SigningKey => ({ text, secret: createSecretKey(text, 'utf8') });
