import { ListSecretVersionIdsCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type FilledByPeople, filledByPeople } from './next-steps.ts';

/**
 * Which of the secrets that people fill have no value. One that cannot be read counts as empty, as who deploys may not be allowed to.
 * `stackName` is the prefix of their names.
 */
export const findEmptySecrets = async (
  client: SecretsManagerClient,
  stackName: string,
): Promise<readonly FilledByPeople[]> => {
  const isFilled = async (secret: FilledByPeople): Promise<boolean> => {
    try {
      const { Versions = [] } = await client.send(
        new ListSecretVersionIdsCommand({ SecretId: `${stackName}/${secret}` }),
      );
      return Versions.some(({ VersionStages }) => VersionStages?.includes('AWSCURRENT'));
    } catch {
      return false;
    }
  };
  const all = Object.keys(filledByPeople) as FilledByPeople[];
  const filled = await Promise.all(all.map(isFilled));
  return all.filter((_, index) => filled[index] === false);
};
