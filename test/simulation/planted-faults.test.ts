/** @module-tag slow */

import { beforeAll, expect, test } from 'vitest';
import { checkNames } from '../enumeration/search.ts';
import { properties } from '../fuzz/properties.ts';
import { invariants } from './invariants/all.ts';
import { breakerInvariants } from './many-extractions/breaker-invariants.ts';
import { crowdInvariants } from './many-extractions/crowd-invariants.ts';
import { refusalInvariants } from './many-extractions/refused-credentials-invariants.ts';
import { plantedFaults } from './planted-faults/all-faults.ts';
import { searchFaults } from './planted-faults/run-faults.ts';

let searches: ReturnType<typeof searchFaults>;

beforeAll(() => {
  searches = searchFaults();
});

test.each(plantedFaults)('$caughtBy catches: $name', async (fault) => {
  const { invariant, trace } = (await searches.get(fault.name)) ?? {};
  expect(invariant, trace).toBe(fault.caughtBy);
  const isReplayed = fault.world !== 'enumeration' && fault.world !== 'fuzz';
  if (isReplayed) expect(trace).toContain('npm run simulate -- --replay');
});

test('every invariant, check and property is broken by some fault', () => {
  const broken = new Set(plantedFaults.map(({ caughtBy }) => caughtBy));
  expect(
    [
      ...[...invariants, ...breakerInvariants, ...refusalInvariants, ...crowdInvariants, ...properties].map(
        ({ name }) => name,
      ),
      ...checkNames,
    ].filter((name) => !broken.has(name)),
  ).toEqual([]);
});
