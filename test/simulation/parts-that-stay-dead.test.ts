import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findScenario } from './campaign/find-scenario.ts';
import { runSeed } from './campaign/search-random.ts';
import { nameOf } from './campaign/show-finding.ts';
import { runWorld } from './run-world.ts';
import { followSchedule } from './scheduler/schedule.ts';
import { scenarios } from './world/draw-scenario.ts';
import { parts } from './world/scenario.ts';

/** Before the request, and while most tasks run. */
const moments = [0, 8];

const seeds = 40;

const design = readFileSync(new URL('../../docs/design.md', import.meta.url), 'utf8');
const [, section = ''] = /### Parts that stay dead\n([^#]*)/.exec(design) ?? [];

/** The rows of the first table of the section: the dead parts, and the invariants that then fail. The second one has the alarms. */
const rows = [...section.matchAll(/^\| ([a-z ]+) \|.*\|(.*)\|$/gm)]
  .map(([, dead = '', failing = '']) => ({
    dead: dead.split(' and '),
    fails: [...failing.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name),
  }))
  .filter(({ dead: [first] }) => first !== 'dead' && first !== 'alarm');

test('the table has every part, and the pairs that are fallbacks of each other', () => {
  const pairs = [
    ['webhook', 'machine'],
    ['queue', 'sweep'],
  ];
  const found = rows.map(({ dead }) => dead.join()).sort();
  expect(found).toEqual([...parts, ...pairs].map(String).sort());
});

describe.each(rows)('without $dead', async ({ dead, fails }) => {
  const broken = new Map<string, string>();
  for (const suffix of moments.map((from) => `-without-${dead.join('+')}-from-${from}`)) {
    const runs = [
      ...scenarios.map(({ name }) => async (listener: Parameters<typeof runWorld>[2]) => {
        await runWorld(findScenario(`${name}${suffix}`), followSchedule([]), listener);
        return { name: `${name}${suffix}`, schedule: [] };
      }),
      ...Array.from(
        { length: seeds },
        (_, seed) => (listener: Parameters<typeof runWorld>[2]) => runSeed(seed, listener, { suffix }),
      ),
    ];
    for (const run of runs) {
      const names: string[] = [];
      const { name, schedule } = await run({ mayBreak: (invariant) => names.push(invariant) > 0 });
      for (const invariant of names) broken.set(invariant, nameOf({ scenario: name, schedule }));
    }
  }

  test(`exactly these fail: ${fails.join(', ') || 'none'}`, () => {
    const text = [...broken].map((one) => one.join(': npm run simulate -- --replay ')).join('\n');
    expect([...broken.keys()].sort(), text).toEqual([...fails].sort());
  });
});
