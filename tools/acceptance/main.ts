import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { findBootstrapProblem, findQualifier } from '../../infra/deploy/bootstrap.ts';
import { explainFailedDeployment } from '../../infra/deploy/explain-failed-deployment.ts';
import { stackNameOf } from '../../lib/aws/stage.ts';
import { connect } from '../cli/aws/deployment.ts';
import { describeStack } from '../cli/aws/stack.ts';
import { checkConcurrency } from '../cli/doctor/check-resources.ts';
import { CliError, UsageError } from '../cli/terminal/errors.ts';
import { exitCodes } from '../cli/terminal/exit-codes.ts';
import { describeFailure } from '../cli/terminal/explain-failure.ts';
import { nodeShell } from '../cli/terminal/node-shell.ts';
import type { Shell } from '../cli/terminal/shell.ts';
import { ExpectedFailure } from '../local/expected-failure.ts';
import { createRunDirectory, repository } from '../local/paths.ts';
import { checkStage } from './check-stage.ts';
import { emptyBuckets } from './empty-buckets.ts';
import { startEmulatedStage } from './emulated-stage.ts';
import { type AcceptOptions, readAcceptOptions, usage } from './read-accept-options.ts';
import { refuseOtherProvider } from './refuse-other-provider.ts';
import { acceptanceApp, awsSettings, readersStackNameOf } from './settings.ts';

/** `npm run accept`: deploys a stage with a fake provider, checks it, and destroys it. Returns the exit code. */
const main = async (args: readonly string[]): Promise<number> => {
  try {
    const options = readAcceptOptions(args);
    if (options === 'help') {
      console.log(usage);
      return 0;
    }
    const shell = nodeShell({ json: options.json });
    // Ctrl-C ends what runs, and the stage is then destroyed. A second one leaves it.
    const stop = shell.interrupted();
    return await (options.emulator ? runOnEmulator : runOnAws)(options, shell, stop);
  } catch (error) {
    // Ctrl-C, before there was anything to check.
    if (error instanceof Error && error.name === 'AbortError') return exitCodes.interrupted;
    const expected = error instanceof ExpectedFailure ? { lines: [error.message], code: 1 } : undefined;
    const { lines, code } = expected ?? describeFailure(error, process.env.AWS_PROFILE);
    nodeShell({ json: args.includes('--json') }).fail(lines);
    return code;
  }
};

const runOnEmulator = async ({ checks }: AcceptOptions, shell: Shell, stop: AbortSignal): Promise<number> => {
  const directory = await createRunDirectory('accept', shell.now());
  const onProgress = (step: string): void => shell.hint(`… ${step}`);
  const stage = await startEmulatedStage({ directory, onProgress, signal: stop });
  try {
    return await stage.check({ checks, shell, stop });
  } finally {
    await stage.stop();
    shell.hint(`Stopped. Logs: ${directory}`);
  }
};

/** @throws {CliError} where the account is not ready for a stage, before anything is deployed */
const refuseUnreadyAccount = async (
  { config }: CloudFormationClient,
  reconcileConcurrency: number,
): Promise<void> => {
  const [region, credentials] = await Promise.all([config.region(), config.credentials()]);
  const endpoint = process.env.AWS_ENDPOINT_URL || undefined;
  const qualifier = await findQualifier([]);
  const problem = await findBootstrapProblem({ region, credentials, qualifier, endpoint });
  if (problem !== undefined) throw new CliError(problem);
  // A throttled fake provider answers 503, and a start then ends as UNCONFIRMED: the checks would fail for no fault of the stage.
  const concurrency = await checkConcurrency(new LambdaClient(), reconcileConcurrency);
  if (concurrency.result === 'failed') {
    throw new CliError([`The ${concurrency.message}. Nothing was deployed.`, concurrency.remedy]);
  }
};

/**
 * Fails before anything is deployed where the SDK finds no region or credentials. The CDK CLI searches in more places, and
 * takes us-east-1 where it finds no region: it would deploy a stage that nothing here can check or destroy.
 */
const agreeOnRegion = async (): Promise<void> => {
  const { config } = new CloudFormationClient();
  process.env.AWS_REGION = await config.region().catch((cause: unknown) => {
    throw new UsageError('No region is set. Set AWS_REGION, or AWS_PROFILE to a profile that has one.', {
      cause,
    });
  });
  await config.credentials();
};

const runOnAws = async (options: AcceptOptions, shell: Shell, stop: AbortSignal): Promise<number> => {
  await agreeOnRegion();
  const { stage, settings, keep, again, destroy: onlyDestroy, checks } = options;
  const all: Readonly<Record<string, string>> = { ...awsSettings, ...settings, stage };
  const context = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const check = async (): Promise<number> => {
    const endpoint = process.env.AWS_ENDPOINT_URL || undefined;
    const deployment = await connect({ stage, root: repository, endpoint });
    return checkStage({ checks, deployment, shell, stop });
  };
  if (again) return check();
  const cloudFormation = new CloudFormationClient();
  await refuseOtherProvider(stage, (name) => describeStack(cloudFormation, name));
  if (onlyDestroy) return destroyStage(stage, context);
  await refuseUnreadyAccount(cloudFormation, Number(all.reconcileConcurrency));
  const command = `npm run accept -- -c stage=${stage}`;
  let code = await runCdk(['deploy', '--require-approval', 'never', ...context]);
  try {
    if (code !== 0) {
      const sentence = await explainFailedDeployment(cloudFormation, stackNameOf(stage));
      if (sentence !== undefined) shell.hint(['', sentence]);
    } else if (!stop.aborted) code = await check();
  } finally {
    if (keep) {
      shell.hint([
        `The stage ${stage} is kept, and costs some 50 cents a day.`,
        `Repeat its checks: ${command} --again`,
        `Destroy it: ${command} --destroy`,
      ]);
    } else {
      if (stop.aborted) shell.hint('Stopped. Destroying the stage; Ctrl-C again leaves it.');
      const destroyed = await destroyStage(stage, context);
      if (destroyed !== 0) shell.hint(`The stage was not destroyed. Try again: ${command} --destroy`);
      if (code === 0) code = destroyed;
    }
  }
  return stop.aborted ? exitCodes.interrupted : code;
};

const cdk = join(repository, 'node_modules', 'aws-cdk', 'bin', 'cdk');

/** Runs the CDK CLI in this terminal, for all stacks of the acceptance app. Returns its exit code, and 1 for a signal. */
const runCdk = async ([command = '', ...args]: readonly string[]): Promise<number> => {
  const child = spawn(process.execPath, [cdk, command, '--all', '--app', acceptanceApp, ...args], {
    cwd: repository,
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
};

const destroyStage = async (stage: string, context: readonly string[]): Promise<number> => {
  for (const stack of [stackNameOf(stage), readersStackNameOf(stage)]) await emptyBuckets(stack);
  return runCdk(['destroy', '--force', ...context]);
};

// An open keep-alive connection would otherwise delay the end of the process.
process.exit(await main(process.argv.slice(2)));
