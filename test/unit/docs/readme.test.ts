import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { outcomesAsMarkdown } from '../../sandbox/outcomes.ts';

const repository = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, repository), 'utf8');

test("docs/sandbox.md has the sandbox's outcome table", () => {
  expect(read('docs/sandbox.md')).toContain(outcomesAsMarkdown());
});

test("each variable of the README's commands is set by a command before it", () => {
  const commands = [...read('README.md').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
  for (const text of commands) {
    for (const { 1: name = '', index } of text.matchAll(/\$\{?([A-Z_]+)/g)) {
      expect(text.slice(0, index)).toMatch(new RegExp(`^${name}=`, 'm'));
    }
  }
});

test('nothing names a command that would fetch a package named `cosecha`, which anybody could register', () => {
  const files = execFileSync('git', ['ls-files', '*.md', '*.ts', '*.js'], {
    cwd: repository,
    encoding: 'utf8',
  });
  const fetching = /\b(?:npx|npm exec|npm x)(?! --no -- )(?: -{1,2}[\w-]+)* (?:-- )?cosecha\b/;
  const paths = files.trim().split('\n');
  expect(paths.filter((path) => fetching.test(read(path)))).toEqual([]);
});

test("npm warns of no package that needs a newer Node than npm's own, as all run under the Node of `npm ci`", () => {
  const directory = mkdtempSync(join(tmpdir(), 'cosecha-engines-'));
  copyFileSync(new URL('.npmrc', repository), join(directory, '.npmrc'));
  const manifest = { name: 'too-new', version: '1.0.0', engines: { node: '>=999' } };
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  const { status, stderr } = spawnSync('npm', ['install', '--dry-run', '--offline'], {
    cwd: directory,
    encoding: 'utf8',
  });
  rmSync(directory, { recursive: true });
  expect(status).toBe(0);
  expect(stderr).not.toContain('EBADENGINE');
});

test("CI runs the README's test command", () => {
  expect(read('README.md')).toContain('npm ci && npm test');
  expect(read('.ci/run')).toMatch(/^npm ci\nnpm test$/m);
});

/** The pages of the root and of docs. Decisions are history, and their links are not maintained. */
const pages = [
  ...readdirSync(repository).filter((name) => name.endsWith('.md')),
  ...readdirSync(new URL('docs/', repository))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const withoutCode = (page: string): string => page.replace(/^```[\s\S]*?^```$/gm, '');

/** The anchors that GitHub makes of the headings of a page. */
const anchorsOf = (page: string): readonly string[] =>
  [...withoutCode(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const isThere = (page: string, link: string): boolean => {
  const [path = '', anchor] = link.split('#');
  const target = new URL(path, new URL(page, repository));
  if (!existsSync(target)) return false;
  return anchor === undefined || anchorsOf(readFileSync(target, 'utf8')).includes(anchor);
};

test.each(pages)('every link of %s leads to a file of the repository, and to a heading of it', (page) => {
  const links = [...withoutCode(read(page)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(
    ([, link = '']) => link,
  );
  expect(links.filter((link) => !isThere(page, link))).toEqual([]);
});
