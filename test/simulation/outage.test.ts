import { expect, test } from 'vitest';
import { countsOf } from './outage/invariants.ts';
import { type Outage, troubles } from './outage/outage.ts';
import { runOutage, traceOf, violationIn } from './outage/search.ts';

const seeds = 100;

const runs = await Promise.all(
  Array.from({ length: seeds }, async (_, seed) => ({ seed, fleet: await runOutage(seed) })),
);

test(`every invariant holds in ${seeds} outages`, () => {
  const broken = runs.find(({ fleet }) => violationIn(fleet) !== undefined);
  const what = broken === undefined ? '' : JSON.stringify(violationIn(broken.fleet));
  expect(broken === undefined ? '' : `${what}\n${traceOf(broken.fleet, broken.seed)}`).toBe('');
});

const having = (trouble: Outage['trouble']) => runs.filter(({ fleet }) => fleet.outage.trouble === trouble);

test.each(troubles)('an outage in which the provider %s occurred', (trouble) => {
  expect(having(trouble).length).toBeGreaterThan(5);
});

test.each(['refuses', 'answers 503', 'hangs'] as const)(
  'if the provider %s, the breaker opens and is probed',
  (trouble) => {
    for (const { fleet } of having(trouble)) expect(countsOf(fleet).openings).toBeGreaterThan(0);
    expect(having(trouble).some(({ fleet }) => countsOf(fleet).probes > 2)).toBe(true);
  },
);

test('processes and answers were lost', () => {
  expect(runs.filter(({ fleet }) => fleet.losses > 0).length).toBeGreaterThan(10);
});
