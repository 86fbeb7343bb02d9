import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { PatchDoesNotFit, patchSource } from '../support/patch-source.ts';
import { deliberateFaults } from './faults/deliberate-faults.ts';
import { runFault } from './faults/run-faults.ts';
import type { Caught } from './faults/search-with-fault.ts';
import { invariants } from './invariants/all.ts';

/** Runs as many at a time as there are cores; each test waits for its own. */
const pooled = new Map<string, Promise<Caught>>();
let last: Promise<unknown>[] = Array.from({ length: availableParallelism() }, () => Promise.resolve());
for (const [index, fault] of deliberateFaults.entries()) {
  const lane = index % last.length;
  const caught = (last[lane] ?? Promise.resolve()).then(() => runFault(fault));
  caught.catch(() => undefined);
  pooled.set(fault.name, caught);
  last = last.with(
    lane,
    caught.catch(() => undefined),
  );
}

test.each(deliberateFaults)('$name breaks $caughtBy: $does', async ({ name, caughtBy }) => {
  const caught = await pooled.get(name);
  expect(caught?.invariant, caught?.trace).toBe(caughtBy);
  expect(caught?.trace).toContain('npm run simulate -- --replay');
});

test('every invariant is broken by some fault', () => {
  const broken = new Set(deliberateFaults.map(({ caughtBy }) => caughtBy));
  expect(invariants.map(({ name }) => name).filter((name) => !broken.has(name))).toEqual([]);
});

test('a patch that no longer fits its source is refused', () => {
  const [fault] = deliberateFaults;
  if (fault === undefined) throw new Error('There is no fault.');
  expect(() => patchSource('', fault)).toThrow(PatchDoesNotFit);
  expect(() => patchSource(`${fault.find}\n${fault.find}`, fault)).toThrow(PatchDoesNotFit);
});

const rowPattern = /^\| `([a-z0-9-]+)` \| (.+) \| `([a-z-]+)` \|$/gm;

test('the decision lists the faults, and what catches each', async () => {
  const decision = await readFile(
    new URL('../../docs/decisions/0008-every-interleaving-is-simulated.md', import.meta.url),
    'utf8',
  );
  const [, table = ''] = decision.split('## Deliberate faults');
  const listed = [...table.matchAll(rowPattern)].map(([, name, does, caughtBy]) => ({
    name,
    does,
    caughtBy,
  }));
  expect(listed).toEqual(deliberateFaults.map(({ name, does, caughtBy }) => ({ name, does, caughtBy })));
});
