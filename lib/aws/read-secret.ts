import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';

/** The stack made the secret, and nobody has put a value into it yet. Answered 503: it will be filled. */
export class SecretNotFilled extends Error {
  override readonly name = 'SecretNotFilled';

  constructor(secret: string, options?: ErrorOptions) {
    super(
      `The secret ${secret} has no value yet. Fill it with the command that the deployment printed.`,
      options,
    );
  }
}

type Label = 'AWSCURRENT' | 'AWSPREVIOUS';

/**
 * The secret's text under a staging label, or undefined where nothing is under it: Secrets Manager answers
 * ResourceNotFoundException for both a secret and a label that do not exist
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
    // A value pasted or piped from a file often ends with a line break; no key does.
    const value = SecretString?.replace(/\r?\n$/, '');
    return value === undefined || value === '' ? undefined : value;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

/** The current value. Throws SecretNotFilled, and the SDK's errors. */
export const readSecret = async (client: SecretsManagerClient, name: string): Promise<string> => {
  const current = await readLabel(client, name, 'AWSCURRENT');
  if (current === undefined) throw new SecretNotFilled(name);
  return current;
};

/** The current value and, after a rotation, the one before it. Throws as `readSecret` does. */
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
