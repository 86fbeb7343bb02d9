import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { adoptRegion } from '../../lib/aws-region.ts';
import { memoize } from '../../lib/memoize.ts';
import { connect } from './aws/deployment.ts';
import { useProxy } from './aws/proxy.ts';
import { commandNames, createProgram, type GlobalOptions } from './program.ts';
import { exitCodes } from './terminal/errors.ts';
import { describeFailure } from './terminal/explain-failure.ts';
import { nodeShell } from './terminal/node-shell.ts';

const versionOf = (root: string): string =>
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string }).version;

/** What commander reports as `error: unknown option …`, or with its help where no command is given. */
const describeUsageError = ({ code, message }: CommanderError, program: Command): readonly string[] => {
  if (code === 'commander.help') {
    return [`Name a command: ${commandNames(program).join(', ')}.`];
  }
  const sentence = message.replace(/^error: (.)/, (_, first: string) => first.toUpperCase());
  if (code !== 'commander.excessArguments') return sentence.split('\n');
  return [`${sentence} Options begin with --, and are in the help.`];
};

/**
 * Runs `cosecha` with these arguments. Returns the exit code (errors.ts).
 *
 * @param root the directory of the package
 */
export const main = async (args: readonly string[], root: string): Promise<number> => {
  let code: number = exitCodes.done;
  adoptRegion(process.env);
  const endProxy = useProxy(process.env);
  const program = createProgram(async (work) => {
    const { stage, stack, region, profile, json = false } = program.opts<GlobalOptions>();
    const shell = nodeShell({ json });
    const endpoint = process.env.AWS_ENDPOINT_URL;
    const options = {
      stack,
      region: region || undefined,
      profile: profile || undefined,
      root,
      stage: stage ?? process.env.COSECHA_STAGE,
      endpoint: endpoint === '' ? undefined : endpoint,
      mfaCode: process.stdin.isTTY
        ? (serial: string) => shell.readSecret(`the code of the MFA device ${serial}`)
        : undefined,
    };
    try {
      code = await work({ shell, connect: memoize(() => connect(options)) });
    } catch (error) {
      shell.wait(undefined);
      const failure = describeFailure(error, profile);
      shell.fail(failure.lines, failure.facts);
      code = failure.code;
    }
  }, versionOf(root));
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // --help and --version end so, too.
    if (error.exitCode === exitCodes.done) return exitCodes.done;
    // Not from the program: it may have stopped before it came to --json.
    const shell = nodeShell({ json: args.includes('--json') });
    shell.fail(describeUsageError(error, program));
    return exitCodes.usage;
  } finally {
    endProxy();
  }
};
