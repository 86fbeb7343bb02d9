import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { defined } from '../defined.ts';
import { NotConfigured } from '../not-configured.ts';

type Label = 'AWSCURRENT' | 'AWSPREVIOUS';

/** `version` is the id of the version in Secrets Manager. It reveals nothing about the text. */
export type SecretValue = { readonly text: string; readonly version?: string };

/**
 * The secret's value under a staging label, or undefined if it has none. Secrets Manager throws
 * ResourceNotFoundException both for a missing secret and for a missing label
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html).
 */
const readLabel = async (
  client: SecretsManagerClient,
  name: string,
  label: Label,
): Promise<SecretValue | undefined> => {
  try {
    const { SecretString, VersionId: version } = await client.send(
      new GetSecretValueCommand({ SecretId: name, VersionStage: label }),
    );
    // A value that was pasted or piped often ends with a line break, and a key never does.
    const value = SecretString?.replace(/\r?\n$/, '');
    return value === undefined || value === '' ? undefined : { text: value, ...defined({ version }) };
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

const readCurrent = async (client: SecretsManagerClient, name: string): Promise<SecretValue> => {
  const current = await readLabel(client, name, 'AWSCURRENT');
  if (current === undefined) throw new NotConfigured('secret', name);
  return current;
};

/** Returns the current text. Throws NotConfigured if there is none, and the SDK's errors. */
export const readSecret = async (client: SecretsManagerClient, name: string): Promise<string> =>
  (await readCurrent(client, name)).text;

/** Returns the current value and, after a rotation, the previous one. Throws as `readSecret` does. */
export const readRotatingSecret = async (
  client: SecretsManagerClient,
  name: string,
): Promise<readonly SecretValue[]> => {
  const [current, previous] = await Promise.all([
    readCurrent(client, name),
    readLabel(client, name, 'AWSPREVIOUS'),
  ]);
  return previous === undefined || previous.text === current.text ? [current] : [current, previous];
};
