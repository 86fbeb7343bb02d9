import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { cachedRead } from '../../cached-read.ts';
import { NotConfigured } from '../../not-configured.ts';
import { dynamoRefusedCredentialsStore } from '../dynamo-refused-credentials-store.ts';
import { readSecret } from '../read-secret.ts';

/** `infra/` deployed a function without a variable that the function needs. Thrown at cold start. */
export class MissingEnvironmentVariable extends Error {
  override readonly name = 'MissingEnvironmentVariable';
}

const variable = (name: string): string | undefined => process.env[name] || undefined;

/** Returns an environment variable. Throws MissingEnvironmentVariable if it is not set or empty. */
export const requiredVariable = (name: string): string => {
  const value = variable(name);
  if (value === undefined) {
    throw new MissingEnvironmentVariable(`The environment variable ${name} is not set.`);
  }
  return value;
};

/** Returns the environment variable of an optional setting. Throws NotConfigured if the setting is not set. */
export const neededSetting = (name: string, setting: string): string => {
  const value = variable(name);
  if (value === undefined) throw new NotConfigured('setting', setting);
  return value;
};

/** The table `Refusals`, and how many days a mark is kept. */
export const refusedCredentialsFromEnvironment = (database: DynamoDBClient) => ({
  refusals: dynamoRefusedCredentialsStore(database, requiredVariable('REFUSALS_TABLE')),
  keptDays: Number(requiredVariable('REFUSED_CREDENTIALS_DAYS')),
});

/** The key of the MACs of requests and credentials. The process keeps it, because it is generated with the stack and never rotated. */
export const fingerprintKeyFromEnvironment = (secrets: SecretsManagerClient): (() => Promise<string>) => {
  const name = requiredVariable('FINGERPRINT_KEY_SECRET');
  return cachedRead(
    Number.POSITIVE_INFINITY,
    () => new Date(),
    () => readSecret(secrets, name),
  );
};
