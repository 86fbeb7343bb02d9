import { ListSecretVersionIdsCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readSecret } from '../../../lib/aws/read-secret.ts';
import { NotConfigured } from '../../../lib/not-configured.ts';
import { apiKeyFaultOf, secretFaultOf, secretFaults } from '../../../lib/secret-shape.ts';
import type { CheckedDelivery } from '../aws/read-deliveries.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import { type Found, failed, passed } from './finding.ts';

/** By the kind of a secret. The stack generates the fingerprint key, and nobody may read it. */
const faultOf = {
  'API key': apiKeyFaultOf,
  'signing key': secretFaultOf,
  generated: undefined,
} as const;

export type Secret = {
  readonly name: string;
  readonly label: string;
  readonly kind: keyof typeof faultOf;
  /** How to fill it. */
  readonly remedy: string;
  /** Of a key that verifies: the deliveries of the last day, the newest first. */
  readonly deliveries?: () => Promise<readonly CheckedDelivery[]>;
};

/** Which of the accepted keys verified last, as a clause. */
const lastVerified = async ({ deliveries }: Secret, accepted: Accepted, now: Date): Promise<string> => {
  if (deliveries === undefined) return '';
  const read = await deliveries().catch((error: unknown) => {
    if (!(error instanceof Error) || error.name !== 'AccessDeniedException') throw error;
    return undefined;
  });
  if (read === undefined) return '; which key verified last is not known, as you may not read the log';
  const last = read.find(({ verifiedBy }) => verifiedBy !== undefined);
  if (last === undefined) return '; no delivery was verified within a day';
  const which =
    Object.entries(accepted).find(([, version]) => version === last.verifiedBy)?.[0] ?? 'a dropped';
  return `; ${which} key verified the last delivery, ${formatSeconds(secondsSince(last.at, now))} ago`;
};

/** The versions of the keys that are accepted. */
type Accepted = { readonly 'the current': string | undefined; readonly 'the previous': string | undefined };

type Shape = { readonly clause: string } | { readonly fault: string };

/** Whether the value looks like the secret alone, as a clause. It is only read for that. Undefined without a value. */
const checkShape = async (
  client: SecretsManagerClient,
  { name, kind }: Secret,
): Promise<Shape | undefined> => {
  const find = faultOf[kind];
  if (find === undefined) return { clause: '' };
  try {
    const fault = find(await readSecret(client, name));
    return fault === undefined ? { clause: ', in one piece' } : { fault: secretFaults[fault] };
  } catch (error) {
    // The emulator counts a version without a value.
    if (error instanceof NotConfigured) return undefined;
    if (!(error instanceof Error) || error.name !== 'AccessDeniedException') throw error;
    return { clause: '; its shape was not checked, as you may not read it' };
  }
};

/** Fails where a secret has no value, or one with more in it than the secret, with `remedy`. Prints its age, and nothing of the value. */
export const checkSecret = async (
  client: SecretsManagerClient,
  secret: Secret,
  now: Date,
): Promise<Found> => {
  const { name, label, remedy } = secret;
  const { Versions = [] } = await client.send(new ListSecretVersionIdsCommand({ SecretId: name }));
  const versionOf = (stage: string) => Versions.find(({ VersionStages }) => VersionStages?.includes(stage));
  const ageOf = (stage: string): string | undefined => {
    const created = versionOf(stage)?.CreatedDate;
    return created === undefined ? undefined : formatSeconds((now.getTime() - created.getTime()) / 1_000);
  };
  const current = ageOf('AWSCURRENT');
  const shape = current === undefined ? undefined : await checkShape(client, secret);
  if (shape === undefined) return failed(`${label} is not filled (${name})`, remedy);
  if ('fault' in shape) return failed(`${label} ${shape.fault}`, remedy);
  const previous = ageOf('AWSPREVIOUS');
  const other = previous === undefined ? '' : `; the previous one, ${previous} old, is AWSPREVIOUS`;
  const accepted = {
    'the current': versionOf('AWSCURRENT')?.VersionId,
    'the previous': versionOf('AWSPREVIOUS')?.VersionId,
  };
  const verified = await lastVerified(secret, accepted, now);
  return passed(`${label} was filled ${current} ago${shape.clause}${other}${verified}`);
};
