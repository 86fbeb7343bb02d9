import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { type Command, CommanderError } from 'commander';
import { connect } from './deployment.ts';
import { CliError, UsageError } from './errors.ts';
import { explainFailure } from './explain-failure.ts';
import { nodeShell } from './node-shell.ts';
import { createProgram, type GlobalOptions } from './program.ts';

const OK = 0;
const FAILED = 1;
const USAGE = 2;

const versionOf = (root: string): string =>
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string }).version;

/** The lines to print for a failure, and its exit code. An unexpected one is printed with its stack and causes. */
const describeFailure = (error: unknown): { readonly lines: readonly string[]; readonly code: number } => {
  if (error instanceof CliError) {
    return { lines: error.lines, code: error instanceof UsageError ? USAGE : FAILED };
  }
  const sentence = explainFailure(error);
  return { lines: sentence === undefined ? inspect(error).split('\n') : [sentence], code: FAILED };
};

/** What commander reports as `error: unknown option …`, or with its help where no command is given. */
const describeUsageError = ({ code, message }: CommanderError, program: Command): readonly string[] => {
  if (code === 'commander.help') {
    const names = program.commands.map((command) => command.name());
    return [`Name a command: ${names.join(', ')}.`];
  }
  return message.replace(/^error: (.)/, (_, first: string) => first.toUpperCase()).split('\n');
};

/**
 * Runs `cosecha` with these arguments. Returns the exit code: 0 done, 1 not done or a check failed, 2 wrong command line.
 *
 * @param root the directory of the package
 */
export const main = async (args: readonly string[], root: string): Promise<number> => {
  let code = OK;
  const program = createProgram(async (work) => {
    const { stage, region, profile, json = false } = program.opts<GlobalOptions>();
    const shell = nodeShell({ json });
    const endpoint = process.env.AWS_ENDPOINT_URL;
    const options = {
      stage: stage ?? process.env.COSECHA_STAGE,
      region,
      profile,
      root,
      endpoint: endpoint === '' ? undefined : endpoint,
    };
    try {
      code = await work({ shell, connect: () => connect(options) });
    } catch (error) {
      shell.wait(undefined);
      const failure = describeFailure(error);
      shell.fail(failure.lines);
      code = failure.code;
    }
  }, versionOf(root));
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // --help and --version end so, too.
    if (error.exitCode === OK) return OK;
    // Not from the program: it may have stopped before it came to --json.
    const shell = nodeShell({ json: args.includes('--json') });
    shell.fail(describeUsageError(error, program));
    return USAGE;
  }
};
