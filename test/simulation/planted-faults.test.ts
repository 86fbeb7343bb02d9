import { expect, test } from 'vitest';
import { checkNames } from '../enumeration/search.ts';
import { PatchDoesNotFit, patchSource } from '../support/programs/patch-source.ts';
import { invariants } from './invariants/all.ts';
import { breakerInvariants } from './many-extractions/breaker-invariants.ts';
import { crowdInvariants } from './many-extractions/crowd-invariants.ts';
import { refusalInvariants } from './many-extractions/refused-credentials-invariants.ts';
import { plantedFaults } from './planted-faults/all-faults.ts';
import { searchFaults } from './planted-faults/run-faults.ts';

test.each(searchFaults())('$fault.name breaks $fault.caughtBy: $fault.does', async ({ fault, caught }) => {
  const { invariant, trace } = await caught;
  expect(invariant, trace).toBe(fault.caughtBy);
  if (fault.world !== 'enumeration') expect(trace).toContain('npm run simulate -- --replay');
});

test('every invariant and every check is broken by some fault', () => {
  const broken = new Set(plantedFaults.map(({ caughtBy }) => caughtBy));
  expect(
    [
      ...[...invariants, ...breakerInvariants, ...refusalInvariants, ...crowdInvariants].map(
        ({ name }) => name,
      ),
      ...checkNames,
    ].filter((name) => !broken.has(name)),
  ).toEqual([]);
});

test('a patch that no longer fits its source is rejected', () => {
  const [fault] = plantedFaults;
  if (fault === undefined) throw new Error('There is no fault.');
  expect(() => patchSource('', fault)).toThrow(PatchDoesNotFit);
  expect(() => patchSource(`${fault.find}\n${fault.find}`, fault)).toThrow(PatchDoesNotFit);
});
