import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { NotConfigured } from '../not-configured.ts';

type Label = 'AWSCURRENT' | 'AWSPREVIOUS';

/**
 * The secret's text under a staging label, or undefined if it has none. Secrets Manager throws
 * ResourceNotFoundException both for a missing secret and for a missing label
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html).
 */
const readLabel = async (
  client: SecretsManagerClient,
  name: string,
  label: Label,
): Promise<string | undefined> => {
  try {
    const { SecretString } = await client.send(
      new GetSecretValueCommand({ SecretId: name, VersionStage: label }),
    );
    // A value pasted or piped from a file often ends with a line break. No key does.
    const value = SecretString?.replace(/\r?\n$/, '');
    return value === undefined || value === '' ? undefined : value;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

/** Returns the current value. Throws NotConfigured if there is none, and the SDK's errors. */
export const readSecret = async (client: SecretsManagerClient, name: string): Promise<string> => {
  const current = await readLabel(client, name, 'AWSCURRENT');
  if (current === undefined) throw new NotConfigured('secret', name);
  return current;
};

/** Returns the current value and, after a rotation, the previous one. Throws as `readSecret` does. */
export const readRotatingSecret = async (
  client: SecretsManagerClient,
  name: string,
): Promise<readonly string[]> => {
  const [current, previous] = await Promise.all([
    readSecret(client, name),
    readLabel(client, name, 'AWSPREVIOUS'),
  ]);
  return previous === undefined || previous === current ? [current] : [current, previous];
};
