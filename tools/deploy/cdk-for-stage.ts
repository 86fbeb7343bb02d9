import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { STSClient } from '@aws-sdk/client-sts';
import { findExampleProvider } from '../../infra/refuse-local-on-aws.ts';
import { type Config, readConfig } from '../../infra/settings/config.ts';
import { ConfigError } from '../../infra/settings/config-error.ts';
import { readStage } from '../../infra/settings/read-stage.ts';
import { exampleSettings } from '../../infra/settings/settings.ts';
import { stackNameOf } from '../../lib/aws/stage.ts';
import { adoptRegion } from '../../lib/aws-region.ts';
import type { Credentials } from '../../lib/client/signed-fetch.ts';
import { defined } from '../../lib/defined.ts';
import { explainFailedDeployment } from './explain-failed-deployment.ts';
import { contextOf, findBootstrapProblem, findQualifier } from './find-bootstrap-problem.ts';
import { findEmptySecrets } from './find-empty-secrets.ts';
import { findQuotaProblem } from './find-quota-problem.ts';
import { findVersionProblem } from './find-version-problem.ts';
import { stepsAfterDeploy, stepsAfterSynth } from './next-steps.ts';

/**
 * `npm run synth`, `diff`, `bootstrap` and `deploy`: the CDK CLI with the same arguments and the settings of `--stage`, and then what to do
 * next. `cdk validate` (unstable in 2.1148.1) has CloudFormation validate a change set: properties, names that a retained secret still has,
 * quotas. `cdk deploy` makes that change set first in any case, so that nothing more is found by it
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/validate-stack-deployments.html). What needs credentials, or an account that is bootstrapped, ends without them before it starts, with a sentence.
 */
const main = async ([command = '', ...given]: readonly string[]): Promise<number> => {
  const args = withStage(given);
  const { stage } = contextOf(args);
  // What is named on the command line comes later, and wins.
  const withExamples = stage === undefined ? [...exampleArguments, ...args] : args;
  if (command === 'synth' && (stage !== undefined || !(await hasStages()))) return synth(withExamples, stage);
  // The CDK CLI takes its region from there, too.
  adoptRegion(process.env);
  // It synthesizes the app, to find the environments of its stacks.
  if (command === 'bootstrap')
    return refusedFor((await findAccess(args)).problem) ?? runCdk([command, ...withExamples]);
  if (stage === undefined) {
    console.error(
      `Name the stage whose settings are in stages/<stage>.json: npm run ${command} -- --stage prod`,
    );
    return 1;
  }
  const refused = refusedFor(await findProblem(args));
  return refused ?? (command === 'deploy' ? deploy(args) : runCdk([command, ...args]));
};

const refusedFor = (problem: string | undefined): 1 | undefined => {
  if (problem === undefined) return undefined;
  console.error(problem);
  return 1;
};

/** Whether this folder has the settings of a stage, for which no examples are taken. */
const hasStages = async (): Promise<boolean> => {
  const names = await readdir('stages').catch(() => []);
  return names.some((name) => name.endsWith('.json') && !name.endsWith('.schema.json'));
};

/** Examples of the required settings, for `npm run synth` and `npm run bootstrap` without a stage. */
const exampleArguments = Object.entries(exampleSettings).flatMap(([name, value]) => [
  '-c',
  `${name}=${value}`,
]);

/** With the stage as a value of the context, which the app reads. */
const withStage = (args: readonly string[]): readonly string[] => {
  const stage = findOption(args, '--stage');
  if (stage === undefined) return args;
  const others = args.filter(
    (arg, index) => arg !== '--stage' && args[index - 1] !== '--stage' && !arg.startsWith('--stage='),
  );
  return [...others, '-c', `stage=${stage}`];
};

const synth = async (args: readonly string[], stage: string | undefined): Promise<number> => {
  const code = await runCdk(['synth', ...args]);
  const output = findOption(args, '--output', '-o') ?? 'cdk.out';
  if (code === 0) print(stepsAfterSynth(await findTemplate(output), stage));
  return code;
};

const deploy = async (args: readonly string[]): Promise<number> => {
  const named = findOption(args, '--outputs-file', '-O');
  const directory = await mkdtemp(join(tmpdir(), 'cosecha-deploy-'));
  const file = named ?? join(directory, 'outputs.json');
  try {
    const code = await runCdk(['deploy', ...args, ...(named === undefined ? ['--outputs-file', file] : [])]);
    if (code !== 0) {
      await explainFailure(args);
      return code;
    }
    const stacks = JSON.parse(await readFile(file, 'utf8')) as Record<string, Record<string, string>>;
    const secrets = new SecretsManagerClient(defined({ profile: findOption(args, '--profile') }));
    for (const [name, outputs] of Object.entries(stacks)) {
      print(stepsAfterDeploy(name, outputs, await findEmptySecrets(secrets, name)));
    }
    return 0;
  } finally {
    await rm(directory, { recursive: true });
  }
};

/** Prints what helps after a failed deployment, where that is known. Its own errors would hide the CLI's. */
const explainFailure = async (args: readonly string[]): Promise<void> => {
  try {
    const client = new CloudFormationClient(defined({ profile: findOption(args, '--profile') }));
    const assembly = findOption(args, '--output', '-o') ?? 'cdk.out';
    const manifest = JSON.parse(await readFile(join(assembly, 'manifest.json'), 'utf8')) as {
      readonly artifacts: Readonly<Record<string, { readonly type: string }>>;
    };
    const stacks = Object.entries(manifest.artifacts).filter(
      ([, { type }]) => type === 'aws:cloudformation:stack',
    );
    for (const [name] of stacks) {
      const sentence = await explainFailedDeployment(client, name);
      if (sentence !== undefined) print([sentence]);
    }
  } catch {}
};

type Access = {
  readonly problem?: string;
  readonly region?: string;
  readonly credentials?: Credentials;
};

/** The region and the credentials, or why there are none, as a sentence. Without both, where they are found is the choice of the CDK CLI. */
const findAccess = async (args: readonly string[]): Promise<Access> => {
  const profile = findOption(args, '--profile');
  // Where the SDK and the CDK CLI find both: https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
  const { config } = new STSClient(defined({ profile }));
  // Without any region, where the CDK CLI deploys is its own choice.
  const region = await config.region().catch(() => undefined);
  try {
    const credentials = await new STSClient(
      defined({ profile, region: region ?? 'us-east-1' }),
    ).config.credentials();
    return defined({ region, credentials });
  } catch (error) {
    if (!(error instanceof Error) || !/^(Credentials|Token)ProviderError$/.test(error.name)) throw error;
    // The CDK CLI asks for the code of an MFA device itself.
    if (error.message.includes('multi-factor')) return {};
    const where = profile === undefined ? '' : ` in the profile "${profile}"`;
    return { problem: `There are no AWS credentials${where}. Log in, or name a profile with --profile.` };
  }
};

/** Why the CDK CLI could not deploy or compare, in sentences, as far as it can be known before. */
const findProblem = async (args: readonly string[]): Promise<string | undefined> => {
  try {
    const settings = readStage(contextOf(args));
    return findExampleProvider(settings) ?? (await findProblemAtAws(args, readConfig(settings)));
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
};

const findProblemAtAws = async (args: readonly string[], config: Config): Promise<string | undefined> => {
  const { problem, region, credentials } = await findAccess(args);
  if (region === undefined || credentials === undefined) return problem;
  const endpoint = process.env.AWS_ENDPOINT_URL || undefined;
  const bootstrap = { region, credentials, qualifier: await findQualifier(args), endpoint };
  const lambda = new LambdaClient(defined({ region, credentials, endpoint }));
  const stacks = new CloudFormationClient(defined({ region, credentials, endpoint }));
  return (
    (await findVersionProblem(stacks, stackNameOf(config.stage))) ??
    (await findBootstrapProblem(bootstrap)) ??
    (await findQuotaProblem(lambda, config))
  );
};

const runCdk = async (args: readonly string[]): Promise<number> => {
  const cli = join(import.meta.dirname, '..', '..', 'node_modules', 'aws-cdk', 'bin', 'cdk');
  const child = spawn(process.execPath, [cli, ...args], { stdio: 'inherit' });
  // Ctrl-C reaches the CLI too, which ends in its own time.
  process.on('SIGINT', () => {});
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
};

/** The value of an option, as `--name value`, `-n value` or `--name=value`. */
const findOption = (args: readonly string[], ...names: readonly string[]): string | undefined => {
  const at = args.findIndex((arg) => names.includes(arg));
  if (at !== -1) return args[at + 1];
  return names.flatMap((name) =>
    args.flatMap((arg) => (arg.startsWith(`${name}=`) ? arg.slice(name.length + 1) : [])),
  )[0];
};

const findTemplate = async (directory: string): Promise<string> => {
  const templates = (await readdir(directory)).filter((name) => name.endsWith('.template.json'));
  return templates.map((name) => join(directory, name)).join(', ');
};

const print = (lines: readonly string[]): void => {
  if (lines.length > 0) console.log(`\n${lines.join('\n')}`);
};

process.exitCode = await main(process.argv.slice(2));
