import {
  ListSecretVersionIdsCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { readSecret } from '../../../lib/aws/read-secret.ts';
import { NotConfigured } from '../../../lib/not-configured.ts';
import { apiKeyFaultOf, secretFaultOf, secretFaults } from '../../../lib/secret-shape.ts';
import type { Deployment } from '../aws/deployment.ts';
import { readDeliveries } from '../aws/read-deliveries.ts';
import { CliError } from '../terminal/errors.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import type { CommandContext } from './command-context.ts';

/** The secrets that people fill. The stack generates the third. */
const fillable = {
  'api-key': { secret: 'provider-api-key', label: 'API key', faultOf: apiKeyFaultOf },
  'signing-key': { secret: 'webhook-signing-key', label: 'signing key', faultOf: secretFaultOf },
} as const;

export const fill = async (
  name: keyof typeof fillable,
  { dropPrevious = false }: { readonly dropPrevious?: boolean },
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
  if (isChanged && name === 'signing-key' && !dropPrevious) {
    await refuseToDrop(client, SecretId, deployment, shell.now());
  }
  if (isChanged) await client.send(new PutSecretValueCommand({ SecretId, SecretString: value }));
  shell.print(
    isChanged
      ? `The ${label} is stored in ${SecretId}.`
      : `${SecretId} has this ${label} already. Nothing was changed.`,
    { secret: SecretId, changed: isChanged },
  );
  return 0;
};

/** A week, as days without a delivery are usual at a low volume. */
const searchedMs = 7 * 24 * 3_600_000;

/**
 * Another key drops the one before the current one, with which the provider may still sign: every delivery would be refused.
 *
 * @throws {CliError} unless the delivery that was verified last was signed with the current key
 */
const refuseToDrop = async (
  client: SecretsManagerClient,
  SecretId: string,
  deployment: Deployment,
  now: Date,
): Promise<void> => {
  const { Versions = [] } = await client.send(new ListSecretVersionIdsCommand({ SecretId }));
  const versionOf = (stage: string) =>
    Versions.find(({ VersionStages }) => VersionStages?.includes(stage))?.VersionId;
  const [current, previous] = [versionOf('AWSCURRENT'), versionOf('AWSPREVIOUS')];
  if (previous === undefined) return;
  const { items } = await readDeliveries(deployment, new Date(now.getTime() - searchedMs));
  const last = items.find(({ verifiedBy }) => verifiedBy !== undefined);
  if (last?.verifiedBy !== undefined && last.verifiedBy === current) return;
  const known =
    last?.verifiedBy === previous
      ? `The provider still signed with the previous key ${formatSeconds(secondsSince(last.at, now))} ago`
      : 'No delivery shows whether the provider still signs with the previous key';
  throw new CliError([
    `${known}. Another key would drop that one, and its deliveries would be refused. Nothing was stored.`,
    `Have the provider switch to the current key first. If a key leaked, use \`${deployment.command('fill', 'signing-key', '--drop-previous')}\`.`,
  ]);
};

const currentValue = (client: SecretsManagerClient, name: string): Promise<string | undefined> =>
  readSecret(client, name).catch((error: unknown) => {
    if (error instanceof NotConfigured) return undefined;
    throw error;
  });
