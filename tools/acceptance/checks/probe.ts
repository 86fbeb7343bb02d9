import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { probeStackNameOf, readersStackNameOf } from '../../../lib/aws/stage.ts';
import type { Deployment } from '../../cli/aws/deployment.ts';
import { describeStack } from '../../cli/aws/stack.ts';
import { CliError } from '../../cli/terminal/errors.ts';
import type { DeployedFunction } from './stack-parts.ts';

/** What the stage and its probe share, as a client and its provider do. */
export type SharedKeys = { readonly apiKey: string; readonly signingKey: string };

/** The probe provider of a stage. */
export type Probe = {
  readonly stackName: string;
  /** An output of its stack or of the stack of its readers, or undefined where neither has it. */
  readonly output: (name: string) => string | undefined;
  /** The keys of this run. A rotation replaces them. */
  readonly keys: () => SharedKeys;
  /** Stores the keys at the stage and at the probe, with the webhook URL. */
  readonly share: (keys: SharedKeys) => Promise<void>;
};

/**
 * Finds the probe of a stage. Throws CliError where the provider of any function is not the probe: a real provider must
 * never receive the random keys and the invented credentials of the checks.
 */
export const findProbe = async (
  deployment: Deployment,
  functions: readonly Pick<DeployedFunction, 'name' | 'variables'>[],
): Promise<Probe> => {
  const { client, stage, stackName } = deployment;
  const { webhookUrl } = deployment.api;
  const cloudFormation = new CloudFormationClient(client);
  const probeStack = probeStackNameOf(stage);
  const [probe, readers] = await Promise.all(
    [probeStack, readersStackNameOf(stage)].map((name) => describeStack(cloudFormation, name)),
  );
  const probeUrl = probe?.outputs.ProbeUrl;
  const elsewhere = functions.filter(
    ({ variables: { PROVIDER_BASE_URL: url } }) =>
      url !== undefined && (probeUrl === undefined || !isSameAddress(probeUrl, url)),
  );
  if (probeUrl === undefined || elsewhere.length > 0) {
    const providers = elsewhere.map(({ name, variables }) => `${name} at ${variables.PROVIDER_BASE_URL}`);
    throw new CliError([
      `The provider of ${stackName} is not its probe (${probeUrl ?? `there is no stack ${probeStack}`}): ${providers.join(', ')}.`,
      'Nothing was done. `cosecha accept` sends random keys and invented credentials, which no real provider must get.',
      'Deploy a stage of its own for it: npm run accept -- -c stage=accept',
    ]);
  }
  const secrets = new SecretsManagerClient(client);
  const put = (SecretId: string, SecretString: string) =>
    secrets.send(new PutSecretValueCommand({ SecretId, SecretString }));
  let shared: SharedKeys | undefined;
  return {
    stackName: probeStack,
    output: (name) => probe?.outputs[name] ?? readers?.outputs[name],
    keys: () => {
      if (shared === undefined) throw new Error('The keys are shared before any check runs.');
      return shared;
    },
    share: async (keys) => {
      // The stage first: it then accepts the new key, and still the one before it.
      await put(`${stackName}/webhook-signing-key`, keys.signingKey);
      await put(`${stackName}/provider-api-key`, keys.apiKey);
      await put(`${probeStack}/registration`, JSON.stringify({ ...keys, webhookUrl }));
      shared = keys;
    },
  };
};

const isSameAddress = (one: string, other: string): boolean =>
  one.replace(/\/+$/, '') === other.replace(/\/+$/, '');
