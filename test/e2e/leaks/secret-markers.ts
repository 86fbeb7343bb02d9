import { randomBytes } from 'node:crypto';

const kinds = ['password', 'username', 'email', 'result', 'webhookField'] as const;

/**
 * Words that stand in every secret of their kind that this run makes up, and in nothing else. Letters and digits
 * only: no URL, no JSON and no regular expression writes them in another way.
 */
export type SecretMarkers = Readonly<Record<(typeof kinds)[number], string>>;

export const newSecretMarkers = (): SecretMarkers =>
  Object.fromEntries(
    kinds.map((kind) => [kind, `${kind}Mark${randomBytes(8).toString('hex')}`]),
  ) as SecretMarkers;
