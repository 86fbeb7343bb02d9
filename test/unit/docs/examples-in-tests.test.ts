import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The first test of these files is an example, for somebody who uses the verb for the first time. */
const inRoom = (room: string) =>
  readdirSync(`test/unit/lib/${room}`, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && path !== 'coverage.test.ts')
    .map((path) => `${room}/${path.replace('.test.ts', '')}`);
const files = ['client', 'downstream', 'provider'].flatMap(inRoom);

/** The imports of a file, and its first test, if nothing but comments is between them. */
const pattern = /^((?:import [^;]+;\n|\/\/.*\n|\n)+)(test\('(?:.*\n)+?}\);\n)/;
const partsOf = (file: string): readonly string[] =>
  pattern.exec(readFileSync(`test/unit/lib/${file}.test.ts`, 'utf8'))?.slice(1) ?? [];

test.each(files)('%s: the first test is an example of 25 lines that needs no other file of tests', (file) => {
  const [imports = '', example = ''] = partsOf(file);
  const [, ...code] = example.trim().split('\n');
  expect(code.length + 1).toBeGreaterThan(1);
  expect(code.length + 1).toBeLessThanOrEqual(25);
  const ofTests = [...imports.matchAll(/import ([^;]+) from '(?![^']*\/lib\/)\.[^']+'/g)];
  const names = ofTests.flatMap(([, list = '']) => list.match(/\w+/g) ?? []);
  expect(names.filter((name) => new RegExp(`[^.\\w]${name}\\b(?!:)`).test(code.join('\n')))).toEqual([]);
});

const matches = (path: string, verb: RegExp) =>
  [...readFileSync(path, 'utf8').matchAll(verb)].map(([, name = '']) => name);

test('each exported verb is in an example', () => {
  const verbs = ['client', 'downstream', 'provider']
    .flatMap((room) => matches(`lib/${room}/index.ts`, /[{,]\s*([a-z]\w*)(?=\s*[,}])/g))
    .concat(matches('lib/client/extractions-client.ts', /^ {2}readonly (\w+): \(/gm));
  const examples = files.map((file) => partsOf(file)[1]).join('\n');
  expect(verbs.filter((verb) => !new RegExp(`\\b${verb}\\b`).test(examples))).toEqual([]);
});
