import { randomBytes } from 'node:crypto';

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
