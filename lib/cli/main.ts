import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import { connect } from './deployment.ts';
import { CliError, UsageError } from './errors.ts';
import { explainFailure } from './explain-failure.ts';
import { nodeShell } from './node-shell.ts';
import { createProgram, type GlobalOptions } from './program.ts';

const OK = 0;
const FAILED = 1;
const USAGE = 2;

/** What to print of a failure, and its exit code. Of one that nobody expected it is the stack, causes included. */
const explained = (error: unknown): { readonly lines: readonly string[]; readonly code: number } => {
  if (error instanceof CliError) {
    return { lines: error.lines, code: error instanceof UsageError ? USAGE : FAILED };
  }
  const sentence = explainFailure(error);
  return { lines: sentence === undefined ? inspect(error).split('\n') : [sentence], code: FAILED };
};

/**
 * `cosecha`, with these arguments. The result is the exit code: 0 done, 1 not done or something is wrong, 2 the
 * command line is wrong.
 *
 * @param root where the package is
 */
export const main = async (args: readonly string[], root: string): Promise<number> => {
  let code = OK;
  const program = createProgram(async (work) => {
    const { stage, region, profile, json = false } = program.opts<GlobalOptions>();
    const shell = nodeShell({ json });
    const endpoint = process.env.AWS_ENDPOINT_URL;
    const whereabouts = {
      stage: stage ?? process.env.COSECHA_STAGE,
      ...{ region, profile, root },
      endpoint: endpoint === '' ? undefined : endpoint,
    };
    try {
      code = await work({ shell, connect: () => connect(whereabouts) });
    } catch (error) {
      shell.wait(undefined);
      const failure = explained(error);
      shell.fail(failure.lines);
      code = failure.code;
    }
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    // commander has written its sentence already; its 0 is for --help and --version.
    if (error instanceof CommanderError) return error.exitCode === OK ? OK : USAGE;
    throw error;
  }
};
