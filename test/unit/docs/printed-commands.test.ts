import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { settingNames } from '../../../infra/settings/settings.ts';
import { read } from './metric-names.ts';

/** All pages but those that are history. */
const pages = execFileSync('git', ['ls-files', '*.md', ':!CHANGELOG.md', ':!docs/decisions'], {
  cwd: new URL('../../../', import.meta.url),
  encoding: 'utf8',
})
  .trim()
  .split('\n');

/** The blocks of a page that a shell runs, also those of a list. */
const blocksIn = (text: string): readonly string[] =>
  [...text.matchAll(/^( *)```sh\n([\s\S]*?)^\1```$/gm)].map(([, , block = '']) => block);

/** The commands of a block, without comments. A loop is one command, and so is what goes on in the next line. */
const commandsIn = (block: string): readonly string[] =>
  block
    .replaceAll('\\\n', '')
    .replace(/(&&|\|)\n/g, '$1 ')
    .replace(/^( *)(?:for|while) .*[\s\S]*?^\1done$/gm, (loop) => loop.replaceAll('\n', '; '))
    .split('\n')
    .map((line) => line.replace(/(?:^| +)#.*$/, '').trim())
    .filter((line) => line !== '');

const allBlocks = pages.flatMap((page) => blocksIn(read(page)).map((block) => ({ page, block })));

test('no page passes a setting to a deployment, where it would win over those of the stage', () => {
  const passing = allBlocks
    .flatMap(({ page, block }) => commandsIn(block).map((command) => `${page}: ${command}`))
    .filter((command) => /\b(deploy|diff)\b/.test(command))
    .filter((command) =>
      settingNames.some((name) => new RegExp(`(-c|--context)[ =]?${name}=`).test(command)),
    );
  expect(passing).toEqual([]);
  expect(
    allBlocks.flatMap(({ block }) => commandsIn(block).filter((line) => /\bdeploy\b/.test(line))).length,
  ).toBeGreaterThan(3);
});
