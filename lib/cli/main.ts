import { CommanderError } from 'commander';
import { explainFailure } from './explain-failure.ts';
import { nodeShell } from './node-shell.ts';
import { Problem, UsageProblem } from './problem.ts';
import { createProgram, type GlobalOptions } from './program.ts';
import { connect } from './system.ts';

const OK = 0;
const FAILED = 1;
const USAGE = 2;

/** The sentence of a failure and its exit code. @throws what nobody expected */
const explained = (error: unknown): { readonly sentence: string; readonly code: number } => {
  if (error instanceof UsageProblem) return { sentence: error.message, code: USAGE };
  const sentence = error instanceof Problem ? error.message : explainFailure(error);
  if (sentence === undefined) throw error;
  return { sentence, code: FAILED };
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
      const { sentence, code: failed } = explained(error);
      console.error(json ? JSON.stringify({ error: sentence }) : sentence);
      code = failed;
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
