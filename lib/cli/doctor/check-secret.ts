import { ListSecretVersionIdsCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { formatSeconds } from '../format-seconds.ts';
import { type Finding, failed, passed } from './finding.ts';

/** Whether a secret has a value, and how old its versions are. Reads no value. */
export const checkSecret = async (
  client: SecretsManagerClient,
  { name, what, fillWith }: { readonly name: string; readonly what: string; readonly fillWith: string },
  now: Date,
): Promise<Finding> => {
  const { Versions = [] } = await client.send(new ListSecretVersionIdsCommand({ SecretId: name }));
  const ageOf = (label: string): string | undefined => {
    const created = Versions.find(({ VersionStages }) => VersionStages?.includes(label))?.CreatedDate;
    return created === undefined ? undefined : formatSeconds((now.getTime() - created.getTime()) / 1_000);
  };
  const current = ageOf('AWSCURRENT');
  if (current === undefined) return failed(`${what} is not filled (${name})`, fillWith);
  const previous = ageOf('AWSPREVIOUS');
  const before = previous === undefined ? '' : `; the one before it, ${previous} old, is kept as AWSPREVIOUS`;
  return passed(`${what} is filled, ${current} ago${before}`);
};
