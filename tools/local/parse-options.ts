import { type Command, CommanderError } from 'commander';
import { UsageError } from '../cli/terminal/errors.ts';

/**
 * Parses the options of an npm script. Returns `help` if they ask for that, which is then printed.
 *
 * @throws {UsageError} with the problem and the usage
 */
export const parseOptions = <Options extends object>(program: Command, args: readonly string[]) => {
  program.configureOutput({ writeErr: () => undefined }).exitOverride();
  try {
    return program.parse(args, { from: 'user' }).opts<Options>();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 'help';
    throw wrongOptions(program, error.message.replace(/^error: /, ''), error);
  }
};

export const wrongOptions = (program: Command, problem: string, cause?: unknown): UsageError =>
  new UsageError([problem, '', ...program.helpInformation().trimEnd().split('\n')], { cause });
