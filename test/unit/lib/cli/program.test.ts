import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../../../lib/cli/program.ts';

const id = '0190a0b0-0000-7000-8000-000000000001';

/** Parses a command line, and returns whether a command ran, or why not. */
const parse = async (...args: readonly string[]): Promise<string> => {
  let ran = 'nothing';
  const program = createProgram(async () => {
    ran = 'ran';
  });
  for (const command of [program, ...program.commands])
    command.configureOutput({ writeErr: () => undefined });
  try {
    await program.parseAsync(args, { from: 'user' });
    return ran;
  } catch (error) {
    if (error instanceof CommanderError) return error.code;
    throw error;
  }
};

test.each([
  ['get', id],
  ['--stage', 'prod', 'watch'],
  ['watch', id, '--stage', 'prod', '--json'],
  ['list', '--due'],
  ['deliver', 'task-1', '--status', 'PARTIAL', '--encrypted', '--force'],
  ['reconcile', '--all-due'],
  ['erase', id, '--yes'],
  ['restore', '--from', 'T', '--except', id, '--except', id, '--dry-run'],
  ['redrive'],
  ['doctor', '--provider'],
  ['start', '--entity', 'e', '--action', 'tef', '--action', 'product-balance'],
])('%s %s %s %s is a command line', async (...args) => {
  expect(await parse(...args)).toBe('ran');
});

test.each([
  ['commander.unknownCommand', 'nonsense'],
  ['commander.invalidArgument', 'get', 'not-a-uuid'],
  ['commander.missingArgument', 'erase'],
  ['commander.missingMandatoryOptionValue', 'restore'],
  ['commander.invalidArgument', 'deliver', 'task-1', '--status', 'DONE'],
  ['commander.invalidArgument', 'deliver', 'x'.repeat(101)],
  ['commander.conflictingOption', 'list', '--open', '--due'],
  ['commander.unknownOption', 'start', '--password', 'p'],
  ['commander.excessArguments', 'doctor', 'now'],
])('%s is what is said of %s %s %s %s', async (code, ...args) => {
  expect(await parse(...args)).toBe(code);
});
