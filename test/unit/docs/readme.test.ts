import { spawnSync } from 'node:child_process';
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
import { describe, expect, test } from 'vitest';
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

describe('the requirement of Node', () => {
  const least = '22.18';
  const manifest = JSON.parse(read('package.json')) as {
    readonly engines: { readonly node: string };
    readonly scripts: Readonly<Record<string, string>>;
  };

  test('is one, wherever it is stated', () => {
    expect(manifest.engines.node).toBe(`>=${least}`);
    const stating = [
      'README.md',
      'CONTRIBUTING.md',
      'docs/embedding.md',
      'docs/stream.md',
      'tools/package/README.md',
    ];
    for (const page of stating) {
      const versions = [...read(page).matchAll(/Node ([\d.]*\d) or newer/g)].map(([, version]) => version);
      expect([page, ...new Set(versions)]).toEqual([page, least]);
    }
  });

  test('is checked by each script that runs TypeScript, before anything else', () => {
    const running = Object.entries(manifest.scripts).filter(([, script]) => /\.ts\b|vitest/.test(script));
    expect(running.length).toBeGreaterThan(15);
    for (const [, script] of running) expect(script).toMatch(/^node tools\/cli\/require-node\.js && /);
  });

  test.each([
    ['20.20.2', 1],
    ['22.17.1', 1],
    ['22.18.0', 0],
    ['24.0.0', 0],
  ])('Node %s ends with %d, an old one with a sentence', (version, code) => {
    const old = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(old)}`, 'tools/cli/require-node.js'],
      { cwd: repository, encoding: 'utf8' },
    );
    expect(status).toBe(code);
    const sentence = `Cosecha needs Node ${least} or newer, and this is ${version}.`;
    expect(stderr.includes(sentence)).toBe(code === 1);
  });
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
