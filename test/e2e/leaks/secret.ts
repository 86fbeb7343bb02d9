import { randomBytes } from 'node:crypto';

/** A value that must not be found, and the name under which it is reported. */
export type Secret = {
  readonly kind:
    | 'password'
    | 'username'
    | 'email'
    | 'credentials'
    | 'national id'
    | 'session token'
    | 'OTP or Task Token'
    | 'address of a PDF'
    | 'API key'
    | 'signing key'
    | 'fingerprint key'
    | 'callback token'
    | 'MAC of credentials'
    | 'sealed request'
    /** Of an extraction that is closed. */
    | 'used sealed request'
    /** Under which a user's data can be read with his Task Token. */
    | 'consent id'
    /** The id of an extraction that was erased. */
    | 'erased extraction'
    | 'result'
    | 'webhook field'
    | 'planted';
  readonly value: string;
};

const kinds = ['password', 'username', 'email', 'result', 'webhookField'] as const;

/**
 * Words that are part of every generated secret of their kind, and of nothing else. They have letters and digits only,
 * so that URLs and JSON need no escapes.
 */
export type SecretMarkers = Readonly<Record<(typeof kinds)[number], string>>;

export const newSecretMarkers = (): SecretMarkers =>
  Object.fromEntries(
    kinds.map((kind) => [kind, `${kind}Mark${randomBytes(8).toString('hex')}`]),
  ) as SecretMarkers;
