import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '#support/programs/temporary-directory.ts';
import { outcomesAsMarkdown } from '../../../sandbox/outcome-table.ts';
import { blocksIn, pages, read } from './pages.ts';

const repository = new URL('../../../', import.meta.url);

test("docs/sandbox.md has the sandbox's outcome table", () => {
  expect(read('docs/sandbox.md')).toContain(outcomesAsMarkdown());
});

test('nothing names a command that would fetch Cosecha from a registry, where anybody could register the name', () => {
  const files = execFileSync('git', ['ls-files', '*.md', '*.ts', '*.js'], {
    cwd: repository,
    encoding: 'utf8',
  });
  const fetching =
    /\b(?:npx|npm exec|npm x)(?! --no -- )(?: -{1,2}[\w-]+)* (?:-- )?cosecha\b|npm (?:i|install|add) (?:-\S+ )*@cosecha\//;
  const paths = files.trim().split('\n');
  expect(paths.filter((path) => fetching.test(read(path)))).toEqual([]);
});

test('git ignores every file of results, requests and credentials that pages and the help write or read in the checkout', () => {
  const pages = ['README.md', 'docs/cli.md', 'docs/stream.md', 'tools/cli/program.ts'].map(read).join('\n');
  const named = pages.matchAll(
    /(?:^echo .* > |--(?:results|output) | < |--batch \S+ )"?([\w./$-]+\.jsonl?)\b/gm,
  );
  const written = [...new Set([...named].map(([, path = '']) => path))];
  expect(written.length).toBeGreaterThan(4);
  const { stdout } = spawnSync('git', ['check-ignore', ...written], { cwd: repository, encoding: 'utf8' });
  expect(stdout.trim().split('\n')).toEqual(written);
});

/** What bash prints on standard output and error after these blocks of the runbook, with an AWS CLI that prints its arguments. */
const runbookPrints = (version: string, commands: string, pid = process.pid): string => {
  const directory = temporaryDirectory();
  const running = { pid, endpoint: 'http://127.0.0.1:9', region: 'r', credentials: {} };
  mkdirSync(join(directory, '.cosecha'));
  writeFileSync(join(directory, '.cosecha', 'running.json'), JSON.stringify(running));
  const aws = `#!/bin/sh\n[ "$1" = --version ] && echo aws-cli/${version} || echo "aws $*"\n`;
  writeFileSync(join(directory, 'aws'), aws, { mode: 0o755 });
  const script = [...blocksIn(read('docs/operations.md')).slice(0, 2), commands].join('\n');
  const env = { PATH: `${directory}:${process.env.PATH}` };
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], {
    cwd: directory,
    env,
    encoding: 'utf8',
  });
  return stdout + stderr;
};

test('a rehearsal of the runbook reaches the emulator with any version of the AWS CLI, and older ones are named', () => {
  const command = 'aws sqs list-queues';
  const reached = 'aws --endpoint-url http://127.0.0.1:9 sqs list-queues\n';
  expect(runbookPrints('2.31.0', command)).toBe(reached);
  expect(runbookPrints('1.22.34', command)).toBe(`${reached}This page needs version 2 of the AWS CLI.\n`);
  // Left by an `npm start` that was killed: above all processes that there can be.
  expect(runbookPrints('2.31.0', command, 2 ** 30)).toMatch(
    /^First run npm start in this folder, .*\n.*AWS_ENDPOINT_URL: .*\n$/,
  );
});

test.each(['docs/api.md', 'docs/operations.md', 'docs/embedding.md'])(
  'without `npm start`, the block of %s that reads where it serves prints one sentence, and sets nothing',
  (page) => {
    const block = blocksIn(read(page)).find((text) => text.includes('served()'));
    const script = `CHECKOUT=/nowhere\n${block}\necho "<$API_URL$AWS_ENDPOINT_URL$AWS_ACCESS_KEY_ID>"`;
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], {
      cwd: tmpdir(),
      env: { PATH: process.env.PATH },
      encoding: 'utf8',
    });
    expect({ stdout, stderr }).toEqual({
      stdout: '<>\n',
      stderr: expect.stringMatching(/^.*npm start .*`?Running\.`?\n$/),
    });
  },
);

test('a package is installed from a path that npm does not take for a repository', () => {
  const installed = pages.flatMap((page) => read(page).match(/npm install[^`\n]* \S+\.tgz/g) ?? []);
  expect(installed.length).toBeGreaterThan(1);
  expect(installed.filter((command) => !/ (?:\.|"\$CHECKOUT)\/\S+\.tgz$/.test(command))).toEqual([]);
});

describe('`npm ci` installs only what the lockfile has the hash of', () => {
  type Locked = {
    readonly version: string;
    readonly integrity?: string;
    readonly bin?: object;
    readonly inBundle?: boolean;
  };
  const { packages } = JSON.parse(read('package-lock.json')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  // What is bundled is part of another package, and of its hash.
  const installed = Object.entries(packages).filter(
    ([path, { inBundle }]) => path !== '' && inBundle !== true,
  );

  test('every package, and the Node of each kind of Linux', () => {
    expect(installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
    const nodes = installed.filter(([, { bin = {} }]) => Object.hasOwn(bin, 'node'));
    expect(nodes.map(([path]) => path)).toEqual(
      ['arm64', 'x64'].map((cpu) => `node_modules/node-linux-${cpu}`),
    );
    expect(new Set(nodes.map(([, { version }]) => version.split('.')[0]))).toEqual(new Set(['24']));
  });

  test('no install script fetches more', () => {
    const directory = temporaryDirectory();
    copyFileSync(new URL('.npmrc', repository), join(directory, '.npmrc'));
    const manifest = { name: 'fetches', version: '1.0.0', scripts: { postinstall: 'touch fetched' } };
    writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
    const { status } = spawnSync('npm', ['install', '--offline'], { cwd: directory });
    const fetched = existsSync(join(directory, 'fetched'));
    expect({ status, fetched }).toEqual({ status: 0, fetched: false });
  });
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

/** The links of the page of the package are of its own files. */
const linked = ['CHANGELOG.md', ...pages.filter((page) => page !== 'tools/package/README.md')];

test.each(linked)('every link of %s leads to a file of the repository, and to a heading of it', (page) => {
  const links = [...withoutCode(read(page)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(
    ([, link = '']) => link,
  );
  expect(links.filter((link) => !isThere(page, link))).toEqual([]);
});
