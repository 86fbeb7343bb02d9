import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningSandbox, startSandbox } from '../../sandbox/sandbox.ts';

/** Runs the commands of docs/sandbox.md in one shell, and compares their output with the page. */

const page = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8');
const script = [...page.matchAll(/^ *```bash\n([\s\S]*?)^ *```$/gm)].map(([, block]) => block).join('');

let sandbox: RunningSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

test('the commands of docs/sandbox.md print the documented output', async () => {
  const { stdout } = await promisify(execFile)('bash', [
    '-c',
    script.replace('http://127.0.0.1:4010', sandbox.baseUrl),
  ]);
  const expected = [...script.matchAll(/^ *# → (.+)$/gm)].map(([, line = '']) => asPattern(line));
  expect(expected.length).toBeGreaterThan(20);
  const printed = stdout
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  expect(printed).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
});

/** An ellipsis stands for any text. */
const asPattern = (line: string): RegExp =>
  new RegExp(`^${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*')}$`);
