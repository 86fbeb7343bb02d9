import { ListSecretVersionIdsCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { formatSeconds } from '../terminal/format-seconds.ts';
import { type Finding, failed, passed } from './finding.ts';

/** Fails where a secret has no value, with `remedy`. Reads the ages of its versions, and no value. */
export const checkSecret = async (
  client: SecretsManagerClient,
  { name, label, remedy }: { readonly name: string; readonly label: string; readonly remedy: string },
  now: Date,
): Promise<Finding> => {
  const { Versions = [] } = await client.send(new ListSecretVersionIdsCommand({ SecretId: name }));
  const ageOf = (stage: string): string | undefined => {
    const created = Versions.find(({ VersionStages }) => VersionStages?.includes(stage))?.CreatedDate;
    return created === undefined ? undefined : formatSeconds((now.getTime() - created.getTime()) / 1_000);
  };
  const current = ageOf('AWSCURRENT');
  if (current === undefined) return failed(`${label} is not filled (${name})`, remedy);
  const previous = ageOf('AWSPREVIOUS');
  const other = previous === undefined ? '' : `; the previous one, ${previous} old, is AWSPREVIOUS`;
  return passed(`${label} was filled ${current} ago${other}`);
};
