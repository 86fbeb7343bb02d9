import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** docs/provider-coverage.md against the conformance suite. */

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

const page = read('docs/provider-coverage.md');
const files = readdirSync(new URL('../../../../test/provider-conformance', import.meta.url))
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => name.replace('.test.ts', ''));

/** The sections of a file of the suite, each with the names of its tests. */
const sectionsOf = (file: string) =>
  read(`test/provider-conformance/${file}.test.ts`)
    .split(/^describe\('/m)
    .slice(1)
    .map((section) => ({
      title: section.slice(0, section.indexOf("'")),
      tests: [
        ...section.matchAll(/\bstatement(?:Needing)?\((?:\s*\[[^\]]*\],)?\s*(['"`])((?:[^\\]|\\.)*?)\1/g),
      ].map(([, , name = '']) => name),
    }));

test.each(files)('%s has sections, and each of them statements', (file) => {
  const sections = sectionsOf(file);
  expect(sections.length).toBeGreaterThan(0);
  expect(sections.filter(({ tests }) => tests.length === 0)).toEqual([]);
});

const [, table = ''] = page.split('| section | not shown | assumed, and setting |\n| --- | --- | --- |\n');
const [rows = ''] = table.split('\n\n');
const gaps = rows
  .trim()
  .split('\n')
  .map((row) => row.slice(2).split(' | ', 2).join(': '));

test('the page has an assumption for each of the 31 gaps of the document', () => {
  expect(gaps.length).toBeGreaterThanOrEqual(31);
});

test('each gap is named above the test of what is assumed, and no other is', () => {
  const suite = files.map((file) => read(`test/provider-conformance/${file}.test.ts`)).join('\n');
  const named = [
    ...suite.matchAll(/^ *\/\/ Not shown: (.*)\n(?= *(?:\/\/ Not shown: .*\n *)*statement(?:Needing)?\()/gm),
  ];
  expect(named.map(([, gap]) => gap).toSorted()).toEqual(gaps.toSorted());
});
