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
    | 'result'
    | 'webhook field'
    | 'planted';
  readonly value: string;
};
