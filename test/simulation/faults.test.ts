import { expect, test } from 'vitest';
import { PatchDoesNotFit, patchSource } from '../support/patch-source.ts';
import { plantedFaults } from './faults/planted-faults.ts';
import { runFault } from './faults/run-faults.ts';
import { invariants } from './invariants/all.ts';
import { breakerInvariants } from './populations/breaker-invariants.ts';

/** Every run is asked for at once. Each test waits for its own. */
const pooled = new Map(plantedFaults.map((fault) => [fault.name, runFault(fault)]));
for (const caught of pooled.values()) caught.catch(() => undefined);

test.each(plantedFaults)('$name breaks $caughtBy: $does', async ({ name, caughtBy }) => {
  const caught = await pooled.get(name);
  expect(caught?.invariant, caught?.trace).toBe(caughtBy);
  expect(caught?.trace).toContain('npm run simulate -- --replay');
});

test('every invariant is broken by some fault', () => {
  const broken = new Set(plantedFaults.map(({ caughtBy }) => caughtBy));
  expect(
    [...invariants, ...breakerInvariants].map(({ name }) => name).filter((name) => !broken.has(name)),
  ).toEqual([]);
});

test('a patch that no longer fits its source is rejected', () => {
  const [fault] = plantedFaults;
  if (fault === undefined) throw new Error('There is no fault.');
  expect(() => patchSource('', fault)).toThrow(PatchDoesNotFit);
  expect(() => patchSource(`${fault.find}\n${fault.find}`, fault)).toThrow(PatchDoesNotFit);
});
