import { readFileSync } from 'node:fs';
import { expect, TestRunner, test } from 'vitest';
import { allowedTransitions } from '#lib/extraction/change.ts';
import { terminalStatuses } from '#lib/extraction/record.ts';
import { search } from './search.ts';

/** How many decisions the enumeration made when it was last changed. */
const expectedDecisions = 168_000;

/** `npm test` enumerates the chains of every tenth start. */
const every = TestRunner.matchesTags(['slow']) ? 1 : 10;

test('every rule holds in every chain of decisions', async () => {
  // Fixed, so that no run fails by chance.
  const seed = Number(process.env.SEED ?? 1);
  const { decisions, broken } = await search({ seed, drawn: 10_000 / every, every });
  console.log(`${decisions} decisions, and ${10_000 / every} chains drawn with the seed ${seed}.`);
  expect(broken).toBeUndefined();
  expect(decisions).toBeGreaterThan((0.9 * expectedDecisions) / every);
}, 900_000);

test('the design has every transition of the table', () => {
  const design = readFileSync(new URL('../../docs/design.md', import.meta.url), 'utf8');
  const [, table = ''] = design.split('| from | to | written by, when |\n');
  const rows = (table.split('\n\n')[0] ?? '').matchAll(
    /^\| `([A-Z_]+)` \| (?:`([A-Z_]+)`|a final status) \|/gm,
  );
  const documented = [...rows].flatMap(([, from, to]) =>
    (to === undefined ? terminalStatuses : [to]).map((one) => `${from} to ${one}`),
  );
  const made = Object.values(allowedTransitions).flatMap(({ from, to }) =>
    from.flatMap((one) => to.map((other) => `${one} to ${other}`)),
  );
  expect([...new Set(documented)].toSorted()).toEqual([...new Set(made)].toSorted());
});
