import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readSecret } from '../../../lib/aws/read-secret.ts';
import { NotConfigured } from '../../../lib/not-configured.ts';
import { apiKeyFaultOf, secretFaultOf, secretFaults } from '../../../lib/secret-shape.ts';
import { CliError } from '../terminal/errors.ts';
import type { CommandContext } from './command-context.ts';

/** The secrets that people fill. The stack generates the third. */
export const fillable = {
  'api-key': { secret: 'provider-api-key', label: 'API key', faultOf: apiKeyFaultOf },
  'signing-key': { secret: 'webhook-signing-key', label: 'signing key', faultOf: secretFaultOf },
} as const;

export const fill = async (
  name: keyof typeof fillable,
  _options: object,
  { shell, connect }: CommandContext,
): Promise<number> => {
  const { secret, label, faultOf } = fillable[name];
  const deployment = await connect();
  const SecretId = `${deployment.name}/${secret}`;
  const value = await shell.readSecret(`the provider's ${label}`);
  const fault = faultOf(value);
  if (value === '') throw new CliError(`The ${label} is empty. Nothing was stored.`);
  if (fault !== undefined) throw new CliError(`The ${label} ${secretFaults[fault]}. Nothing was stored.`);
  const client = new SecretsManagerClient(deployment.client);
  // The value before stays valid as AWSPREVIOUS. Filled twice with the same one, it would not.
  const isChanged = (await currentValue(client, SecretId)) !== value;
  if (isChanged) await client.send(new PutSecretValueCommand({ SecretId, SecretString: value }));
  shell.print(
    isChanged
      ? `The ${label} is stored in ${SecretId}.`
      : `${SecretId} has this ${label} already. Nothing was changed.`,
    { secret: SecretId, changed: isChanged },
  );
  return 0;
};

const currentValue = (client: SecretsManagerClient, name: string): Promise<string | undefined> =>
  readSecret(client, name).catch((error: unknown) => {
    if (error instanceof NotConfigured) return undefined;
    throw error;
  });
