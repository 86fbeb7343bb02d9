import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { commandNames, createProgram } from '../../../../tools/cli/program.ts';

const id = '0190a0b0-0000-7000-8000-000000000001';

/** Parses a command line. Returns `ran`, or commander's code of the error. */
const parse = async (...args: readonly string[]): Promise<string> => {
  let result = 'nothing';
  const program = createProgram(async () => {
    result = 'ran';
  }, '1.2.3');
  try {
    await program.parseAsync(args, { from: 'user' });
    return result;
  } catch (error) {
    if (error instanceof CommanderError) return error.code;
    throw error;
  }
};

test.each([
  ['commander.invalidArgument', 'get', 'not-a-uuid'],
  ['commander.missingArgument', 'erase'],
  ['commander.invalidArgument', 'deliver', 'task-1', '--status', 'DONE'],
  ['commander.invalidArgument', 'deliver', 'x'.repeat(101)],
  ['commander.conflictingOption', 'list', '--open', '--due'],
  ['commander.invalidArgument', 'list', '--status', 'DONE'],
  ['commander.invalidArgument', 'list', '--since', 'yesterday'],
  ['commander.invalidArgument', 'watch', id, '--until', 'later'],
  ['commander.unknownOption', 'start', '--password', 'p'],
  ['commander.excessArguments', 'doctor', 'now'],
  ['commander.invalidArgument', 'console', '--port', '65536'],
])('%s is the error of %s %s %s %s', async (code, ...args) => {
  expect(await parse(...args)).toBe(code);
});

const helpOf = (name: string): string => {
  let text = '';
  const program = createProgram(async () => undefined, '1.2.3');
  const command = program.commands.find((one) => one.name() === name) ?? program;
  const writeOut = (part: string): void => {
    text += part;
  };
  command.configureOutput({ writeOut }).outputHelp();
  return text;
};

const names = commandNames(createProgram(async () => undefined, '1.2.3'));

test.each(['', ...names])(
  'every example in the help of "%s" is a command line that is accepted',
  async (name) => {
    const [, lines = ''] = helpOf(name).split('\nExamples:\n');
    const examples = lines.split('\n').filter((line) => line !== '');
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const [program, ...args] = example.replace(/ < .*/, '').trim().split(' ');
      expect(program).toBe('cosecha');
      // Commands of the program itself print and run nothing.
      const own = ['help', 'completion'].includes(name) || args.includes('--help');
      if (!own) expect(await parse(...args), example).toBe('ran');
    }
  },
);
