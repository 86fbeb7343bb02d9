import { setTimeout } from 'node:timers/promises';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Deployment } from '../../cli/aws/deployment.ts';
import { describeStack } from '../../cli/aws/stack.ts';
import { CliError } from '../../cli/terminal/errors.ts';
import { secretKeptSeconds } from '../fake-provider/function/deliver.ts';
import { fakeProviderStackNameOf, readersStackNameOf } from '../settings.ts';
import type { DeployedFunction } from './stack-parts.ts';

/** What the stage and its fake provider share, as a client and its provider do. */
type SharedKeys = { readonly apiKey: string; readonly signingKey: string };

/**
 * Finds the fake provider of a stage. Throws CliError where any function has another provider: a real one must never receive
 * the random keys and the invented credentials of the checks.
 */
export const findFakeProvider = async (
  deployment: Deployment,
  functions: readonly Pick<DeployedFunction, 'name' | 'variables'>[],
) => {
  const { client, stage, stackName } = deployment;
  const { webhookUrl } = deployment.api;
  const cloudFormation = new CloudFormationClient(client);
  const fakeStack = fakeProviderStackNameOf(stage);
  const [fakeProvider, readers] = await Promise.all(
    [fakeStack, readersStackNameOf(stage)].map((name) => describeStack(cloudFormation, name)),
  );
  const fakeUrl = fakeProvider?.outputs.FakeProviderUrl;
  const elsewhere = functions.filter(
    ({ variables: { PROVIDER_BASE_URL: url } }) => url !== undefined && url !== fakeUrl,
  );
  if (fakeUrl === undefined || elsewhere.length > 0) {
    const providers = elsewhere.map(({ name, variables }) => `${name} at ${variables.PROVIDER_BASE_URL}`);
    throw new CliError([
      `The provider of ${stackName} is not its fake provider (${fakeUrl ?? `there is no stack ${fakeStack}`}): ${providers.join(', ')}.`,
      'Nothing was done. `npm run accept` sends random keys and invented credentials, which no real provider must get.',
      'Deploy a stage of its own for it: npm run accept -- -c stage=accept',
    ]);
  }
  const secrets = new SecretsManagerClient(client);
  const put = (SecretId: string, SecretString: string) =>
    secrets.send(new PutSecretValueCommand({ SecretId, SecretString }));
  let shared: SharedKeys | undefined;
  const outputs: Readonly<Record<string, string>> = { ...readers?.outputs, ...fakeProvider?.outputs };
  return {
    stackName: fakeStack,
    /** All outputs of its stack and of the stack of its readers. */
    outputs,
    /** One of them. Throws CliError where neither stack has it. */
    output: (name: string): string => {
      const value = outputs[name];
      if (value !== undefined) return value;
      throw new CliError(
        `No stack around ${stackName} has the output ${name}. Deploy them with this version.`,
      );
    },
    /** The keys of this run. A rotation replaces them. */
    keys: (): SharedKeys => {
      if (shared === undefined) throw new Error('The keys are shared before any check runs.');
      return shared;
    },
    /** Stores the keys at the stage and at the fake provider, with the webhook URL, and waits until every process there uses them. */
    share: async (keys: SharedKeys): Promise<void> => {
      // The stage first: it then accepts the new key, and still the one before it.
      await put(`${stackName}/webhook-signing-key`, keys.signingKey);
      await put(`${stackName}/provider-api-key`, keys.apiKey);
      await put(`${fakeStack}/registration`, JSON.stringify({ ...keys, webhookUrl }));
      await setTimeout(secretKeptSeconds * 1_000);
      shared = keys;
    },
  };
};

export type FakeProvider = Awaited<ReturnType<typeof findFakeProvider>>;
