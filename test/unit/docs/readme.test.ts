import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { settingNames } from '../../../infra/config.ts';
import { outcomesAsMarkdown } from '../../sandbox/print-outcomes.ts';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const readme = read('README.md');

test('the README names every setting', () => {
  const missing = settingNames.filter((name) => !readme.includes(`\`${name}\``));
  expect(missing).toEqual([]);
});

test("the README holds the sandbox's outcome table as it is", () => {
  expect(readme).toContain(outcomesAsMarkdown());
});

test("CI calls the README's test command", () => {
  expect(readme).toContain('npm ci && npm test');
  expect(read('.ci/run')).toMatch(/^npm ci\nnpm test$/m);
});

test('every file that the documents link to is there', () => {
  for (const page of ['README.md', 'docs/api.md', 'docs/stream.md', 'docs/operations.md', 'docs/cli.md']) {
    const folder = page.includes('/') ? 'docs/' : '';
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, path]) => path ?? '');
    for (const path of links.filter((link) => /\.\w+$/.test(link)))
      expect(read(`${folder}${path}`)).not.toBe('');
  }
});
