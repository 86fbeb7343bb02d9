import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const repository = new URL('../../../', import.meta.url);

/** Reads a file of the repository, by its path in it. */
export const read = (path: string): string => readFileSync(new URL(path, repository), 'utf8');

/** All pages but those that are history. */
export const pages = execFileSync('git', ['ls-files', '*.md', ':!CHANGELOG.md', ':!docs/decisions'], {
  cwd: repository,
  encoding: 'utf8',
})
  .trim()
  .split('\n');

/** The blocks of a page that a shell runs, also those of a list. */
export const shellBlock = /^( *)```(?:ba)?sh\n([\s\S]*?)^\1```$/gm;

export const blocksIn = (text: string): readonly string[] =>
  [...text.matchAll(shellBlock)].map(([, , block = '']) => block);
