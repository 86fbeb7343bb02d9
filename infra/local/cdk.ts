import { join } from 'node:path';
import { withoutAws } from './emulator/aws-environment.ts';
import { DeployFailed } from './expected-failure.ts';
import { repository } from './paths.ts';
import { runCommand, tail } from './run-command.ts';

type CdkRun = {
  args: string[];
  /** What it does, for the sentence: `The stack could not be deployed`. */
  problem: string;
  /** Of this run: holds the CLI's log and its caches. */
  directory: string;
  cwd?: string;
  /** Where its AWS calls go; without it, it has no credentials at all. */
  awsEnv?: Record<string, string>;
  signal?: AbortSignal;
};

const cli = join(repository, 'node_modules', 'aws-cdk', 'bin', 'cdk');

/** So that a synth without an endpoint looks for credentials nowhere: not in profiles, not at a metadata address. */
const noAws = {
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
};

/**
 * Runs the plain CDK CLI, on the Node that runs us, in an environment that knows no other AWS than `awsEnv`.
 *
 * @throws DeployFailed with the end of its output and the path of its log; `AbortError` when aborted.
 */
export const runCdk = async ({
  args,
  problem,
  directory,
  cwd = repository,
  awsEnv = noAws,
  signal,
}: CdkRun): Promise<void> => {
  const logFile = join(directory, `cdk-${args[0]}.log`);
  const { code, output } = await runCommand(
    process.execPath,
    [cli, ...args, '--no-notices', '--no-color', '--ci'],
    {
      cwd,
      logFile,
      ...(signal && { signal }),
      env: {
        ...withoutAws(process.env),
        ...awsEnv,
        // Its caches (of account ids by access key, among others) must not mix with those of real accounts.
        CDK_HOME: join(directory, 'cdk-home'),
        CDK_DISABLE_CLI_TELEMETRY: 'true',
        CDK_DISABLE_VERSION_CHECK: 'true',
      },
    },
  );
  if (code === 0) return;
  throw new DeployFailed(
    `${problem}: correct what the CDK CLI says below (all of it: ${logFile}), and start again.\n${tail(output, 15)}`,
  );
};
