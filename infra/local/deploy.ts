import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { runCdk } from './cdk.ts';
import { completeTables } from './emulator/complete-tables.ts';
import type { Emulator } from './emulator/emulator.ts';

export type DeployOptions = {
  /** May still be starting: the app is synthesized meanwhile, as that needs no AWS. */
  emulator: Emulator | Promise<Emulator>;
  /** The settings of the app, as `-c name=value` gives them. */
  context: Record<string, string>;
  /** An existing directory of this run, for the synthesized app, logs and outputs. */
  directory: string;
  /** Called with a few words as each step begins. */
  onProgress?: (step: string) => void;
  signal?: AbortSignal;
};

/**
 * Deploys the CDK app with the plain CDK CLI: synth beside bootstrap, then deploy.
 *
 * @returns the outputs of its one stack by name
 * @throws DeployFailed; whatever `emulator` rejects with; `AbortError` when aborted
 */
export const deployStack = async (deployment: DeployOptions): Promise<Record<string, string>> => {
  const { context, directory, onProgress } = deployment;
  // What goes wrong in one branch stops the other, so that no CLI outlives the call.
  const stopped = new AbortController();
  const signal = AbortSignal.any([stopped.signal, ...(deployment.signal ? [deployment.signal] : [])]);
  onProgress?.('synthesizing the app');
  const branches = [
    synthesize(context, directory, signal),
    Promise.resolve(deployment.emulator).then((emulator) =>
      bootstrap(emulator, directory, signal, onProgress),
    ),
  ];
  try {
    await Promise.all(branches);
  } catch (error) {
    stopped.abort();
    await Promise.allSettled(branches);
    throw error;
  }
  onProgress?.('deploying the stack');
  const emulator = await deployment.emulator;
  const outputs = await deployAssembly(emulator, directory, signal);
  await completeTables(emulator, outputs);
  return outputs;
};

const assemblyOf = (directory: string) => join(directory, 'cdk.out');

const synthesize = async (
  context: Record<string, string>,
  directory: string,
  signal: AbortSignal,
): Promise<void> => {
  const settings = Object.entries(context).flatMap(([name, value]) => ['--context', `${name}=${value}`]);
  await runCdk({
    args: ['synth', '--quiet', '--output', assemblyOf(directory), ...settings],
    problem: 'The app could not be synthesized',
    directory,
    signal,
  });
};

/** Once per endpoint: an emulator that somebody keeps running has its bootstrap stack from the time before. */
const bootstrap = async (
  emulator: Emulator,
  directory: string,
  signal: AbortSignal,
  onProgress?: (step: string) => void,
): Promise<void> => {
  if (await isBootstrapped(emulator)) return;
  const sts = new STSClient(emulator.client);
  const { Account } = await sts.send(new GetCallerIdentityCommand());
  onProgress?.('bootstrapping the emulated account');
  await runCdk({
    args: ['bootstrap', `aws://${Account}/${emulator.client.region}`],
    problem: 'The emulated account could not be bootstrapped',
    awsEnv: emulator.awsEnv,
    // Away from cdk.json, or it would synthesize the app as well.
    cwd: directory,
    directory,
    signal,
  });
};

const isBootstrapped = async (emulator: Emulator): Promise<boolean> => {
  const cloudFormation = new CloudFormationClient(emulator.client);
  const found = await cloudFormation
    .send(new DescribeStacksCommand({ StackName: 'CDKToolkit' }))
    .catch((error) => {
      // What CloudFormation says of a stack that does not exist.
      if (error instanceof Error && error.name === 'ValidationError') return { Stacks: [] };
      throw error;
    });
  return found.Stacks?.some(({ StackStatus }) => StackStatus?.endsWith('_COMPLETE')) ?? false;
};

const deployAssembly = async (
  emulator: Emulator,
  directory: string,
  signal: AbortSignal,
): Promise<Record<string, string>> => {
  const outputsFile = join(directory, 'outputs.json');
  await runCdk({
    // `direct`: no change set to make and read, as there is nobody to approve it.
    args: [
      'deploy',
      '--all',
      '--app',
      assemblyOf(directory),
      '--require-approval',
      'never',
      '--method',
      'direct',
      '--outputs-file',
      outputsFile,
    ],
    problem: 'The stack could not be deployed',
    awsEnv: emulator.awsEnv,
    directory,
    signal,
  });
  return parseOutputs(await readFile(outputsFile, 'utf8'));
};

/** The outputs of all stacks in the CLI's outputs file, `{"<stack>": {"<output>": "<value>"}}`, as one. */
export const parseOutputs = (file: string): Record<string, string> => {
  const stacks = JSON.parse(file) as Record<string, Record<string, string>>;
  return Object.assign({}, ...Object.values(stacks)) as Record<string, string>;
};
