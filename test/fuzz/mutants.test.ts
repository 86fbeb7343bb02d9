import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { mutants } from './mutants/mutants.ts';
import { properties } from './properties.ts';

test('every property catches a mutant', () => {
  const caught = new Set(mutants.map(({ caughtBy }) => caughtBy));
  expect(properties.map(({ name }) => name).filter((name) => !caught.has(name))).toEqual([]);
});

// In a process of its own, because mutants are applied as Node loads modules, and here Vite loads them.
test('every mutant is caught', async () => {
  const main = fileURLToPath(new URL('mutants/main.ts', import.meta.url));
  const run = promisify(execFile)(process.execPath, [main]).catch((error: { stdout: string }) => error);
  const { stdout } = await run;
  expect(stdout.split('\n').filter((line) => line.startsWith('✘'))).toEqual([]);
  expect(stdout).toContain(`${mutants.length} of ${mutants.length} mutants caught`);
});
