import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { removeObjects } from '../../lib/aws/removals-on-aws.ts';
import { stackNameOf } from '../../lib/aws/stage.ts';
import { adoptRegion } from '../../lib/aws-region.ts';
import { defined } from '../../lib/defined.ts';
import { connect } from '../cli/aws/deployment.ts';
import { describeStack, readStackResources } from '../cli/aws/stack.ts';
import { checkConcurrency } from '../cli/doctor/check-resources.ts';
import { withRemedy } from '../cli/doctor/finding.ts';
import type { Shell } from '../cli/terminal/command-environment.ts';
import { commandTextOf } from '../cli/terminal/command-text.ts';
import { CliError, exitCodes, UsageError } from '../cli/terminal/errors.ts';
import { explainFailedDeployment } from '../deploy/explain-failed-deployment.ts';
import { findBootstrapProblem, findQualifier } from '../deploy/find-bootstrap-problem.ts';
import { completeStack } from '../local/emulator/complete-stack.ts';
import { createRunDirectory, repository } from '../local/paths.ts';
import { laterTree } from './check-out-version.ts';
import { checkStage } from './check-stage.ts';
import { type Update, upgradeChecks } from './checks/check-upgrade.ts';
import { moveTime } from './move-time.ts';
import type { AcceptOptions } from './read-accept-options.ts';
import {
  acceptanceApp,
  awsSettings,
  completeEmulatorSettings,
  emulatorLateTaskSeconds,
  fakeProviderStackNameOf,
  readersStackNameOf,
  upgradeSettings,
} from './settings.ts';

/** Deploys the stage, checks it, and destroys it, or the part of this that the options name. Returns the exit code. */
export const runOnAws = async (options: AcceptOptions, shell: Shell, stop: AbortSignal): Promise<number> => {
  await agreeOnRegion();
  const { stage, settings, keep, again, destroy: onlyDestroy, upgrade, apiPath } = options;
  const byDefault = apiPath === undefined ? awsSettings : completeEmulatorSettings;
  const ofUpgrade = upgrade && upgradeSettings;
  const all: Record<string, string> = defined({ ...byDefault, ...ofUpgrade, ...settings, stage, apiPath });
  const context = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const deploy = ({ tree, fails, tag }: Update = {}): Promise<number> => {
    const args = ['deploy', '--require-approval', 'never', ...context];
    const only = [...(fails ? ['-c', 'failUpdate=true'] : []), ...(tag ? ['--tags', `accept=${tag}`] : [])];
    return runCdk([...args, ...only], tree);
  };
  const checks = upgrade
    ? upgradeChecks(laterTree(upgrade, await createRunDirectory('accept', shell.now())), deploy)
    : options.checks;
  const endpoint = process.env.AWS_ENDPOINT_URL || undefined;
  const check = async (): Promise<number> => {
    const deployment = await connect({ stage, root: repository, endpoint, apiPath });
    if (apiPath) {
      const ignored = await completeStack(deployment.client, deployment.output);
      if (ignored.length > 0)
        shell.hint(`Set, as the emulator's CloudFormation ignored it: ${ignored.join(', ')}.`);
    }
    if (upgrade || apiPath) await moveTime(deployment, stop);
    const lateTaskSeconds = apiPath === undefined ? undefined : emulatorLateTaskSeconds;
    return checkStage({ checks, deployment, shell, stop, ...defined({ lateTaskSeconds }) });
  };
  if (again) return check();
  const cloudFormation = new CloudFormationClient();
  await refuseOtherProvider(stage, (name) => describeStack(cloudFormation, name));
  if (onlyDestroy) return destroyStage(stage, context);
  if (endpoint === undefined) await refuseRoot(new STSClient());
  await refuseUnreadyAccount(cloudFormation, endpoint, Number(all.reconcileConcurrency));
  const there = apiPath === undefined ? '' : ` --api-path '${apiPath}'`;
  const command = `npm run accept -- -c stage=${stage}${there}`;
  let code = await deploy();
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

/**
 * Fails before anything is deployed where the SDK finds no region or credentials. The CDK CLI searches in more places, and
 * takes us-east-1 where it finds no region: it would deploy a stage that nothing here can check or destroy.
 */
const agreeOnRegion = async (): Promise<void> => {
  adoptRegion(process.env);
  const { config } = new CloudFormationClient();
  process.env.AWS_REGION = await config.region().catch((cause: unknown) => {
    throw new UsageError('No region is set. Set AWS_REGION, or AWS_PROFILE to a profile that has one.', {
      cause,
    });
  });
  await config.credentials();
};

/**
 * Refuses a stage that was deployed without a fake provider, as the run would destroy its data. The stack of the fake provider
 * is created before that of Cosecha, and deleted after it. `describe` returns undefined where there is no such stack.
 *
 * @throws {CliError}
 */
export const refuseOtherProvider = async (
  stage: string,
  describe: (stackName: string) => Promise<unknown>,
): Promise<void> => {
  const name = stackNameOf(stage);
  const [cosecha, fakeProvider] = await Promise.all([name, fakeProviderStackNameOf(stage)].map(describe));
  if (cosecha === undefined || fakeProvider !== undefined) return;
  throw new CliError(
    `${name} was deployed without a fake provider, so it may hold data. Nothing was done. Name another stage: npm run accept -- -c stage=accept-<name>`,
  );
};

/**
 * Refuses the root user, who may assume no role (https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html): the check
 * `foreign-caller` would fail once all is deployed. An emulator lets its root.
 *
 * @throws {CliError}
 */
export const refuseRoot = async (client: Pick<STSClient, 'send'>): Promise<void> => {
  const { Arn = '' } = await client.send(new GetCallerIdentityCommand());
  if (!Arn.endsWith(':root')) return;
  throw new CliError(
    'These are the credentials of the root user, who may assume no role, as the check foreign-caller does. Nothing was deployed. Log in as a user or a role with AdministratorAccess.',
  );
};

/** @throws {CliError} where the account is not ready for a stage, before anything is deployed */
const refuseUnreadyAccount = async (
  { config }: CloudFormationClient,
  endpoint: string | undefined,
  reconcileConcurrency: number,
): Promise<void> => {
  const [region, credentials] = await Promise.all([config.region(), config.credentials()]);
  const qualifier = await findQualifier([]);
  const problem = await findBootstrapProblem({ region, credentials, qualifier, endpoint });
  if (problem !== undefined) throw new CliError(problem);
  // A throttled fake provider answers 503, and a start then ends as UNCONFIRMED: the checks would fail for no fault of the stage.
  const found = await checkConcurrency(new LambdaClient(), reconcileConcurrency);
  const concurrency = withRemedy(found, commandTextOf());
  if (concurrency.result === 'failed') {
    throw new CliError([`The ${concurrency.message}. Nothing was deployed.`, concurrency.remedy]);
  }
};

const cdk = join(repository, 'node_modules', 'aws-cdk', 'bin', 'cdk');

/** Runs the CDK CLI in this terminal, for all stacks of a checkout's acceptance app. Returns its exit code, and 1 for a signal. */
const runCdk = async ([command = '', ...args]: readonly string[], tree = repository): Promise<number> => {
  const child = spawn(process.execPath, [cdk, command, '--all', '--app', acceptanceApp, ...args], {
    cwd: tree,
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
};

const destroyStage = async (stage: string, context: readonly string[]): Promise<number> =>
  emptyAndDestroy({
    empty: async () => {
      for (const stack of [stackNameOf(stage), readersStackNameOf(stage)]) await emptyBuckets(stack);
    },
    destroy: () => runCdk(['destroy', '--force', ...context]),
  });

/**
 * Empties the buckets and deletes the stacks, and does both once more where that fails. A function that still runs may write to a
 * bucket that was just emptied. By the second time it is deleted. Returns the exit code of the last deletion.
 */
export const emptyAndDestroy = async ({
  empty,
  destroy,
}: {
  readonly empty: () => Promise<void>;
  readonly destroy: () => Promise<number>;
}): Promise<number> => {
  await empty();
  if ((await destroy()) === 0) return 0;
  await empty();
  return destroy();
};

/**
 * Deletes every object in the buckets of a stack, as CloudFormation deletes only empty ones
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-s3-bucket.html). Does nothing without the stack.
 */
const emptyBuckets = async (stackName: string): Promise<void> => {
  const cloudFormation = new CloudFormationClient();
  if ((await describeStack(cloudFormation, stackName)) === undefined) return;
  const buckets = (await readStackResources(cloudFormation, stackName)).get('AWS::S3::Bucket') ?? [];
  for (const bucket of buckets) await removeObjects(new S3Client(), bucket, '');
};
