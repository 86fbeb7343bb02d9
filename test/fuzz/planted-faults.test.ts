/** @module-tag slow */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { plantedFaults } from './planted-faults/planted-faults.ts';
import { properties } from './properties.ts';

test('every property catches a planted fault', () => {
  const caught = new Set(plantedFaults.map(({ caughtBy }) => caughtBy));
  expect(properties.map(({ name }) => name).filter((name) => !caught.has(name))).toEqual([]);
});

// In a process of its own, because faults are applied as Node loads modules, and here Vite loads them.
test('every planted fault is caught', async () => {
  const main = fileURLToPath(new URL('planted-faults/main.ts', import.meta.url));
  const run = promisify(execFile)(process.execPath, [main]).catch((error: { stdout: string }) => error);
  const { stdout } = await run;
  expect(stdout.split('\n').filter((line) => line.startsWith('✘'))).toEqual([]);
  expect(stdout).toContain(`${plantedFaults.length} of ${plantedFaults.length} planted faults caught`);
});
