import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandNames, createProgram } from '../../../tools/cli/program.ts';
import { documentedPolicies } from '../../support/documented-policies.ts';

const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
const [intro = '', ...sections] = page.split(/^## /m);
const program = createProgram(async () => undefined, '');

const longOptions = ({ options }: (typeof program.commands)[number]): string[] =>
  options.flatMap(({ long }) => long ?? []);

test('docs/cli.md has a section for each command, in the order of the program, and for no other', () => {
  expect(sections.map((section) => section.split('\n')[0])).toEqual([
    ...commandNames(program),
    'Permissions',
  ]);
});

test('docs/cli.md explains every option under its command, and no unknown one', () => {
  const inOrder = (text: string): string[] =>
    [...new Set(text.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? [])].sort();
  const ofProgram = longOptions(program);
  const known = [...ofProgram, ...program.commands.flatMap(longOptions)];
  expect(ofProgram.filter((option) => !intro.includes(`\`${option}`))).toEqual([]);
  for (const command of program.commands) {
    const section = sections.find((text) => text.startsWith(`${command.name()}\n`)) ?? '';
    // Commands of the AWS CLI have their own options.
    const ours = section.replace(/^(\$ )?aws .*$|Run aws .*$/gm, '');
    expect({ [command.name()]: inOrder(ours).filter((option) => !known.includes(option)) }).toEqual({
      [command.name()]: [],
    });
    const missing = longOptions(command).filter((option) => !inOrder(ours).includes(option));
    expect({ [command.name()]: missing }).toEqual({ [command.name()]: [] });
  }
});

test('docs/cli.md names the policies of every command that reaches a deployment', () => {
  const named = documentedPolicies(page).flatMap(({ commands }) => commands.map(([command]) => command));
  const local = ['completion', 'help'];
  const reaching = commandNames(program).filter((name) => !local.includes(name));
  expect([...new Set(named)].toSorted()).toEqual(reaching.toSorted());
  const longNames = program.commands.flatMap(longOptions);
  const options = documentedPolicies(page).flatMap(({ commands }) => commands.flatMap(([, ...rest]) => rest));
  expect(options.filter((option) => !longNames.includes(option))).toEqual([]);
});
