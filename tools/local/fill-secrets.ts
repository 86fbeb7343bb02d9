import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Emulator } from './emulator/emulator.ts';

type SecretValues = { providerApiKey: string; webhookSigningKey: string };

/** Has the effect of `cosecha fill` for both keys. */
export const fillSecrets = async (
  { client }: Pick<Emulator, 'client'>,
  stackName: string,
  { providerApiKey, webhookSigningKey }: SecretValues,
): Promise<void> => {
  const secrets = new SecretsManagerClient(client);
  const put = (name: string, SecretString: string) =>
    secrets.send(new PutSecretValueCommand({ SecretId: `${stackName}/${name}`, SecretString }));
  await Promise.all([put('provider-api-key', providerApiKey), put('webhook-signing-key', webhookSigningKey)]);
};
