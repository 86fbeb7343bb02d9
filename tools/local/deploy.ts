import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { defined } from '../../lib/defined.ts';
import { describeStack } from '../cli/aws/stack.ts';
import { completeStack } from './emulator/complete-stack.ts';
import type { Emulator } from './emulator/emulator.ts';
import { runCdk } from './run-cdk.ts';

type DeployOptions = {
  /** It may still be starting, as the app of cdk.json is synthesized meanwhile, which needs no AWS. */
  emulator: Emulator | Promise<Emulator>;
  /** The command of an app whose synthesis needs the address of the emulator. Default: that of cdk.json, which does not. */
  app?: string;
  /** The root of the checkout whose app is deployed. Default: this one. */
  tree?: string;
  /** Called once the app is synthesized, before the stack is deployed. */
  beforeDeploy?: () => Promise<void>;
  /** The settings of the app, passed as `-c name=value`. */
  context: Record<string, string>;
  /** An existing directory of this run, for the synthesized app, logs and outputs. */
  directory: string;
  onProgress?: (step: string) => void;
  signal?: AbortSignal;
};

/**
 * Deploys the CDK app with the CDK CLI: synth and bootstrap in parallel, then deploy.
 *
 * @returns the outputs of its stacks by name
 * @throws CliError; the error with which `emulator` rejects; `AbortError` when aborted
 */
export const deployStack = async (options: DeployOptions): Promise<Record<string, string>> => {
  const { directory, onProgress } = options;
  // A failure of one branch stops the other, so that no CLI process outlives this call.
  const stopped = new AbortController();
  const signal = AbortSignal.any([stopped.signal, ...(options.signal ? [options.signal] : [])]);
  onProgress?.('synthesizing the app');
  const branches = [
    synthesize(options, signal),
    Promise.resolve(options.emulator).then((emulator) => bootstrap(emulator, directory, signal, onProgress)),
  ];
  try {
    await Promise.all(branches);
  } catch (error) {
    stopped.abort();
    await Promise.allSettled(branches);
    throw error;
  }
  await options.beforeDeploy?.();
  onProgress?.('deploying the stack');
  const emulator = await options.emulator;
  const outputs = await deployAssembly(emulator, directory, signal);
  await completeStack(emulator.client, (name) => outputs[name] ?? '');
  return outputs;
};

const assemblyOf = (directory: string) => join(directory, 'cdk.out');

const synthesize = async (
  { emulator, app, tree, context, directory }: DeployOptions,
  signal: AbortSignal,
): Promise<void> => {
  const awsEnv = app === undefined ? undefined : (await emulator).awsEnv;
  const settings = Object.entries(context).flatMap(([name, value]) => ['--context', `${name}=${value}`]);
  await runCdk({
    args: [
      'synth',
      ...(app === undefined ? [] : ['--app', app]),
      '--quiet',
      '--output',
      assemblyOf(directory),
      ...settings,
    ],
    problem: 'The app could not be synthesized',
    ...defined({ awsEnv, cwd: tree }),
    directory,
    signal,
  });
};

/** Bootstraps the account once per endpoint. An emulator that was running before has its bootstrap stack already. */
const bootstrap = async (
  { client, awsEnv }: Emulator,
  directory: string,
  signal: AbortSignal,
  onProgress?: (step: string) => void,
): Promise<void> => {
  const stack = await describeStack(new CloudFormationClient(client), 'CDKToolkit');
  if (stack?.status?.endsWith('_COMPLETE')) return;
  const { Account } = await new STSClient(client).send(new GetCallerIdentityCommand());
  onProgress?.('bootstrapping the emulated account');
  await runCdk({
    args: ['bootstrap', `aws://${Account}/${client.region}`],
    problem: 'The emulated account could not be bootstrapped',
    awsEnv,
    // In another directory than cdk.json, or it would synthesize the app as well.
    cwd: directory,
    directory,
    signal,
  });
};

const deployAssembly = async (emulator: Emulator, directory: string, signal: AbortSignal) => {
  const outputsFile = join(directory, 'outputs.json');
  // `direct` creates no change set, because nothing has to be approved.
  const options = '--all --require-approval never --method direct';
  await runCdk({
    args: ['deploy', ...options.split(' '), '--app', assemblyOf(directory), '--outputs-file', outputsFile],
    problem: 'The stack could not be deployed',
    awsEnv: emulator.awsEnv,
    directory,
    signal,
  });
  return parseOutputs(await readFile(outputsFile, 'utf8'));
};

/** Merges the outputs of all stacks in the CLI's outputs file, `{"<stack>": {"<output>": "<value>"}}`. */
export const parseOutputs = (file: string): Record<string, string> => {
  const stacks = JSON.parse(file) as Record<string, Record<string, string>>;
  return Object.assign({}, ...Object.values(stacks)) as Record<string, string>;
};
