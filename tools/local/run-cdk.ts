import { join } from 'node:path';
import { CliError } from '../cli/terminal/errors.ts';
import { withoutAws } from './emulator/aws-environment.ts';
import { compileCache, repository } from './paths.ts';
import { runCommand, tail } from './run-command.ts';

type CdkRun = {
  args: string[];
  /** The start of the error's sentence, such as `The stack could not be deployed`. */
  problem: string;
  /** The directory of this run, for the CLI's log and caches. */
  directory: string;
  cwd?: string;
  /** The environment for AWS calls. Without it, the CLI has no credentials. */
  awsEnv?: Record<string, string>;
  signal?: AbortSignal;
};

const cli = join(repository, 'node_modules', 'aws-cdk', 'bin', 'cdk');

/**
 * Keeps a synthesis from searching for credentials in profiles or at a metadata address. Nothing serves at the endpoint, without
 * which a stage for emulators is refused.
 */
const noAws = {
  AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
};

/**
 * Runs the unmodified CDK CLI on this process's Node. Its environment has no access to AWS but `awsEnv`.
 *
 * @throws CliError with the end of its output and the path of its log; `AbortError` when aborted
 */
export const runCdk = async (run: CdkRun): Promise<void> => {
  const { args, problem, directory, cwd = repository, awsEnv = noAws, signal } = run;
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
        // Its caches, such as account ids by access key, must not mix with the caches for AWS accounts.
        CDK_HOME: join(directory, 'cdk-home'),
        NODE_COMPILE_CACHE: compileCache,
        // The rules of CloudFormation take longer than all else of a synthesis, and no emulator has them. Each deployment to AWS checks them.
        CDK_VALIDATION: 'false',
        CDK_DISABLE_CLI_TELEMETRY: 'true',
        CDK_DISABLE_VERSION_CHECK: 'true',
      },
    },
  );
  if (code === 0) return;
  throw new CliError(
    `${problem}. Correct the problem that the CDK CLI reports (full log: ${logFile}), and start again.\n${tail(output, 15)}`,
  );
};
