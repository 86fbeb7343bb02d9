import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { consentPageLine, curlLines } from '../../../sandbox/curl-lines.ts';
import { stepsAfterDeploy } from '../../../tools/deploy/next-steps.ts';
import { describeIfInstalled, findProgram } from '../../support/programs/describe-if-installed.ts';
import { temporaryDirectory } from '../../support/programs/temporary-directory.ts';
import { blocksIn, pages, read } from './pages.ts';

const bash = ['bash', '--norc', '--noprofile'];
/** As a Mac has it: interactive, with no setting. So a comment is no comment, and `!`, `=`, `~` and globs are expanded. */
const zsh = ['zsh', '-f', '-i'];

const END = '\u001e';

/** No program is found, so that each is recorded with its arguments, and so are the builtins that a block shows something with. */
const prelude = `
record() { printf '%s\\036' "$BLOCK $(printf '<%s>' "$@")" >>"$RECORDS"; }
command_not_found_handle() { record "$@"; builtin echo one; }
command_not_found_handler() { record "$@"; builtin echo one; }
echo() { record echo "$@"; }
kill() { :; }
cd() { record cd "$@"; }
PATH=/nowhere
`;

/** With a space, so that a value that only one of the shells splits shows. */
const variablesIn = (blocks: readonly string[]): string =>
  [...new Set(blocks.join('\n').match(/(?<=\$\{?)[A-Z][A-Z_]+/g))]
    .map((name) => `[ -n "\${${name}-}" ] || ${name}='value of ${name}'\n`)
    .join('');

/** What a shell runs when the blocks are pasted, one after the other: in the order of the text, as the parts of a pipe have none. */
const commandsOf = ([command = '', ...args]: readonly string[], blocks: readonly string[]) => {
  const folder = temporaryDirectory();
  const records = join(folder, 'records');
  writeFileSync(records, '');
  const script = blocks.map((block, index) => `BLOCK=${index}\n${block}\n`).join('');
  spawnSync(command, args, {
    cwd: folder,
    env: { RECORDS: records, PATH: process.env.PATH, HOME: folder, SHELL: '/bin/sh' },
    input: prelude + variablesIn(blocks) + script,
  });
  const written = readFileSync(records, 'utf8').split(END).filter(Boolean).toSorted();
  return blocks.map((block, index) => ({
    block,
    runs: written.filter((line) => line.startsWith(`${index} `)),
  }));
};

const outputs = {
  FillProviderApiKey: 'npm exec --no -- cosecha --stage prod --region eu-west-1 fill api-key',
  FillWebhookSigningKey: 'npm exec --no -- cosecha --stage prod --region eu-west-1 fill signing-key',
};
const doctor = readdirSync('tools/cli/doctor').map((name) => read(`tools/cli/doctor/${name}`));

/** The commands that programs print. */
const printed: Readonly<Record<string, readonly string[]>> = {
  'the next steps after a deployment': stepsAfterDeploy('Cosecha-prod', outputs, [
    'provider-api-key',
    'webhook-signing-key',
  ]).flatMap((step) => /npm exec .*/.exec(step)?.[0] ?? []),
  'the lines of npm run sandbox': [
    ...curlLines('http://127.0.0.1:4010', 'sandbox-api-key'),
    consentPageLine('http://127.0.0.1:4010', { apiKey: 'sandbox-api-key', clientId: 'client' }),
  ],
  'the remedies of doctor': doctor.flatMap((source) =>
    [...source.matchAll(/\b(aws [a-z]+ [a-z]+-[^`']*)/g)].map(([, line = '']) =>
      line.replace(/\$\{[^}]*\}/g, 'name'),
    ),
  ),
};

describeIfInstalled(
  findProgram('zsh') !== undefined,
  {
    title: 'what is printed runs the same commands in zsh',
    howToInstall: 'what is printed runs the same commands in zsh: install zsh, e.g. apt-get install -y zsh',
  },
  () => {
    const withBlocks = pages.filter((page) => blocksIn(read(page)).length > 0);
    test.each(withBlocks)('%s', (page) => {
      const blocks = blocksIn(read(page));
      expect(commandsOf(zsh, blocks)).toEqual(commandsOf(bash, blocks));
    });

    test.each(Object.entries(printed))('%s', (_, lines) => {
      expect(lines).not.toEqual([]);
      const inBash = commandsOf(bash, lines);
      expect(inBash.filter(({ runs }) => runs.length === 0)).toEqual([]);
      expect(commandsOf(zsh, lines)).toEqual(inBash);
    });

    test.each([
      'npm start     # runs all of it, `npm test` too',
      'call "aws:amz:$AWS_REGION:execute-api"',
      'npm install dist/*.tgz',
      'echo "Done!"x',
      'aws --query Items[]',
      'get =id',
      'get $ID',
      'restore "$STACK[0]"',
    ])('the difference would show: %s', (block) => {
      expect(commandsOf(zsh, [block])).not.toEqual(commandsOf(bash, [block]));
    });
  },
);
