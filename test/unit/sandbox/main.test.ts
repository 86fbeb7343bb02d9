import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { parseFlags } from '../../../sandbox/parse-flags.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { findProgram } from '../../support/programs/describe-if-installed.ts';

const main = fileURLToPath(new URL('../../../sandbox/main.ts', import.meta.url));

test('the command prints lines that work as printed, refuses a port in use, and ends on a signal', async () => {
  const running = spawn(process.execPath, [main, '--port', '0', '--task-duration-ms', '0']);
  try {
    const printed: string[] = [];
    for await (const line of createInterface({ input: running.stdout })) {
      printed.push(line);
      if (line.startsWith('echo ')) break;
    }
    const text = printed.join('\n');
    expect(text).toContain('API key   sandbox-api-key');
    expect(text).toContain('credentials-locked');
    const last = printed.findIndex((line) => line.startsWith('curl '));
    const { stdout } = spawnSync('sh', ['-c', printed.slice(last - 2, last + 1).join('\n')]);
    expect(JSON.parse(stdout.toString())).toMatchObject({ taskStatus: 'COMPLETED' });
    const page = spawnSync('sh', ['-c', printed.at(-1) ?? ''])
      .stdout.toString()
      .trim();
    expect(await (await fetch(page)).text()).toContain('Authorize access to your data');

    const port = /127\.0\.0\.1:(\d+)/.exec(text)?.[1] ?? '';
    const second = spawnSync(process.execPath, [main, '--port', port]);
    expect(second.status).toBe(1);
    const message = `Port ${port} is in use. Free it, or choose another with --port.\n`;
    expect(second.stderr.toString()).toBe(message);
  } finally {
    running.kill('SIGTERM');
  }
  expect(await once(running, 'exit')).toEqual([0, null]);
});

test('--no-webhooks turns the webhook off', () => {
  expect(parseFlags(['--no-webhooks'])).toMatchObject({ webhooks: false });
  expect(parseFlags([])).toMatchObject({ webhooks: true });
});

test.each([
  [['--port', 'abc'], 'It must be a whole number from 0 to 65535.'],
  [['--mode', 'secret'], 'Allowed choices are plain, encrypted.'],
  [['--webhook-url', 'nowhere'], 'It must be a URL.'],
])('the flags %j are refused with a sentence', (flags, sentence) => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(() => parseFlags(flags)).toThrow(sentence);
});

/** Runs the commands of docs/sandbox.md in one shell, and compares their output with the page: the text below each block. */

const page = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8');
const script = [...page.matchAll(/^ *```bash\n([\s\S]*?)^ *```$/gm)].map(([, block]) => block).join('');

let sandbox: RunningSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

test.each(
  [
    ['bash', '--norc'],
    ['zsh', '-f', '-i'],
  ].filter(([shell = '']) => findProgram(shell) !== undefined),
)('the commands of docs/sandbox.md print the documented output in %s', async (shell, ...flags) => {
  const running = promisify(execFile)(shell, flags);
  running.child.stdin?.end(script.replace('http://127.0.0.1:4010', sandbox.baseUrl));
  const { stdout } = await running;
  const blocks = [...page.matchAll(/^ *```text\n([\s\S]*?)^ *```$/gm)].map(([, block = '']) => block);
  const expected = blocks.flatMap((block) => block.trim().split('\n').map(asPattern));
  expect(expected.length).toBeGreaterThan(10);
  const printed = stdout
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  expect(printed).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
});

/** An ellipsis stands for any text. */
const asPattern = (line: string): RegExp =>
  new RegExp(
    `^${line
      .trim()
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('…', '.*')}$`,
  );
