import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { outcomesAsMarkdown } from '../../sandbox/print-outcomes.ts';

const repository = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, repository), 'utf8');

test("docs/sandbox.md has the sandbox's outcome table", () => {
  expect(read('docs/sandbox.md')).toContain(outcomesAsMarkdown());
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
