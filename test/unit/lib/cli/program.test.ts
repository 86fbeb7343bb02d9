import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../../../lib/cli/program.ts';

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
  ['get', id],
  ['--stage', 'prod', 'watch'],
  ['watch', id, '--stage', 'prod', '--json'],
  ['list', '--due', '--status', 'RUNNING'],
  ['deliver', 'task-1', '--status', 'PARTIAL', '--encrypted', '--force'],
  ['reconcile', '--all-due'],
  ['erase', id, '--yes'],
  ['restore', '--from', 'T', '--except', id, '--except', id, '--dry-run'],
  ['redrive'],
  ['doctor', '--provider'],
  ['console', '--port', '4000'],
  ['start', '--entity', 'e', '--action', 'tef', '--action', 'product-balance'],
])('%s %s %s %s is accepted', async (...args) => {
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
  ['commander.invalidArgument', 'list', '--status', 'DONE'],
  ['commander.unknownOption', 'start', '--password', 'p'],
  ['commander.excessArguments', 'doctor', 'now'],
  ['commander.invalidArgument', 'console', '--port', '65536'],
])('%s is the error of %s %s %s %s', async (code, ...args) => {
  expect(await parse(...args)).toBe(code);
});
