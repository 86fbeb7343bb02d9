import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { readersStackNameOf, stackNameOf } from '../../lib/aws/stage.ts';
import { ExpectedFailure } from '../local/expected-failure.ts';
import { createRunDirectory, repository } from '../local/paths.ts';
import { emptyBuckets } from './empty-buckets.ts';
import { startEmulatedStage } from './emulated-stage.ts';
import { type AcceptRunOptions, readAcceptOptions, usage } from './read-accept-options.ts';
import { awsSettings } from './settings.ts';

/** `npm run accept`: deploys a stage with a fake provider, runs `cosecha accept`, and destroys the stage. Returns the exit code. */
const main = async (args: readonly string[]): Promise<number> => {
  const options = readAcceptOptions(args);
  if (options === 'help') {
    console.log(usage);
    return 0;
  }
  return options.emulator ? runOnEmulator(options) : runOnAws(options);
};

const runOnEmulator = async ({ args }: AcceptRunOptions): Promise<number> => {
  const stop = new AbortController();
  process.on('SIGINT', () => stop.abort()).on('SIGTERM', () => stop.abort());
  const directory = await createRunDirectory('accept', new Date());
  const progress = (step: string): void => console.error(`… ${step}`);
  const stage = await startEmulatedStage({ directory, onProgress: progress, signal: stop.signal });
  try {
    const { code } = await stage.accept(args, 'inherit');
    return code;
  } finally {
    await stage.stop();
    console.error(`Stopped. Logs: ${directory}`);
  }
};

const cdk = join(repository, 'node_modules', 'aws-cdk', 'bin', 'cdk');
const cli = join(repository, 'tools', 'cli', 'cosecha.js');

/** Runs a Node program in this terminal, with this environment. Returns its exit code, and 1 for a signal. */
const run = async (program: string, args: readonly string[]): Promise<number> => {
  const child = spawn(process.execPath, [program, ...args], { cwd: repository, stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
};

/**
 * Fails before anything is deployed where the SDK finds no region or credentials. The CDK CLI searches in more places, and
 * takes us-east-1 where it finds no region: it would deploy a stage that nothing here can check or destroy.
 */
const agreeOnRegion = async (): Promise<void> => {
  const { config } = new CloudFormationClient();
  process.env.AWS_REGION = await config.region();
  await config.credentials();
};

const runOnAws = async (options: AcceptRunOptions): Promise<number> => {
  await agreeOnRegion();
  const { stage, settings, keep, destroy: onlyDestroy, args } = options;
  const context = Object.entries({ ...awsSettings, ...settings, stage }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  let interrupted = false;
  // Ctrl-C reaches the program that runs, which ends. Then the stage is destroyed; a second Ctrl-C leaves it.
  const onSignal = (): void => {
    if (interrupted) process.exit(130);
    interrupted = true;
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  if (onlyDestroy) return destroyStage(stage, context);
  let code = await run(cdk, ['deploy', '--all', '--require-approval', 'never', ...context]);
  if (code === 0 && !interrupted) code = await run(cli, ['--stage', stage, 'accept', ...args]);
  const again = `npm run accept -- -c stage=${stage} --destroy`;
  if (keep) {
    console.error(`The stage ${stage} is kept, and costs some 50 cents a day. Destroy it: ${again}`);
    return interrupted ? 130 : code;
  }
  if (interrupted) console.error('Stopped. Destroying the stage; Ctrl-C again leaves it.');
  interrupted = false;
  const destroyed = await destroyStage(stage, context);
  if (destroyed !== 0) console.error(`The stage was not destroyed. Try again: ${again}`);
  return code === 0 ? destroyed : code;
};

const destroyStage = async (stage: string, context: readonly string[]): Promise<number> => {
  for (const stack of [stackNameOf(stage), readersStackNameOf(stage)]) await emptyBuckets(stack);
  return run(cdk, ['destroy', '--all', '--force', ...context]);
};

main(process.argv.slice(2))
  .catch((error: unknown) => {
    console.error(error instanceof ExpectedFailure ? `\n${error.message}\n` : error);
    return 1;
  })
  // An open keep-alive connection would otherwise delay the end of the process.
  .then((code) => process.exit(code));
