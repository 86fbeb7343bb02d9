import { expect, test } from 'vitest';
import { properties, shareCases } from './properties.ts';
import { describeRun, runProperty } from './run-property.ts';

// The same cases in every run, so that no run fails by chance. `npm run fuzz` draws new ones.
const seed = 1;

// Some 2,000 cases a second on one core: about 5 s. `npm run fuzz` is for more.
const cases = shareCases(properties, 10_000);

test.each(properties.map((property) => [`${property.name}: ${property.claim}`, property] as const))(
  '%s',
  async (_, property) => {
    const run = await runProperty(property, { seed, cases: cases.get(property.name) ?? 0 });
    expect(run.failure === undefined ? '' : describeRun(run)).toBe('');
    expect(run.vacuous).toEqual([]);
  },
);
