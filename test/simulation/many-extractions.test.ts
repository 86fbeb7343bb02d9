import { readFileSync } from 'node:fs';
import { describe, expect, TestRunner, test } from 'vitest';
import { countsOf, writesASecondOf } from './many-extractions/breaker-invariants.ts';
import { slowPopulation } from './many-extractions/broken-beside-healthy.ts';
import { randomChoices } from './many-extractions/choices.ts';
import { outageTroubles } from './many-extractions/draw-population.ts';
import { backlogInvariants, mixInvariants, neighbourInvariants } from './many-extractions/invariants.ts';
import { neighbourhoodInvariants } from './many-extractions/neighbours.ts';
import { type RefusalFact, refusalInvariants } from './many-extractions/refused-credentials-invariants.ts';
import {
  backlogCase,
  crowdCases,
  type Judged,
  judge,
  mixCases,
  randomKinds,
  searchRandom,
  shrink,
  traceOf,
} from './many-extractions/search.ts';
import { Service } from './many-extractions/service.ts';
import { sharedInvariants } from './many-extractions/shared-parts.ts';

/** `npm test` runs a tenth of what is drawn. */
const share = TestRunner.matchesTags(['slow']) ? 1 : 10;

const all = async (search: AsyncGenerator<Judged, void>): Promise<readonly Judged[]> => {
  const judged: Judged[] = [];
  for await (const one of search) judged.push(one);
  return judged;
};

describe('outages of the whole provider', async () => {
  const outages = await all(searchRandom('outage', 0, 50 / share));
  const having = (trouble: (typeof outageTroubles)[number]) =>
    outages.filter(({ service }) => service.population.outages[0]?.trouble === trouble);

  test(`every invariant holds in ${outages.length} of them`, () => {
    const broken = outages.find(({ violations }) => violations.length > 0);
    expect(broken === undefined ? '' : traceOf(broken)).toBe('');
  });

  test.each(outageTroubles)('one in which the provider %s occurred', { tags: ['slow'] }, (trouble) => {
    expect(having(trouble).length).toBeGreaterThan(4);
  });

  test.each(['refuses', 'answers 503', 'hangs'] as const)(
    'if the provider %s, breakers open and turns are taken',
    { tags: ['slow'] },
    (trouble) => {
      const counts = having(trouble).map(({ service }) => countsOf(service));
      expect(counts.some(({ openings, turns }) => openings > 0 && turns > 2)).toBe(true);
    },
  );

  test('processes and answers were lost', { tags: ['slow'] }, () => {
    expect(outages.filter(({ service }) => service.losses > 0).length).toBeGreaterThan(10);
  });
});

const expectNone = async (judged: readonly Judged[], name: string): Promise<void> => {
  const broken = judged.find(({ violations }) => violations.some(({ invariant }) => invariant === name));
  expect(broken === undefined ? '' : traceOf(await shrink(broken))).toBe('');
};

const testEach = (
  invariants: readonly { readonly name: string; readonly rule: string }[],
  judged: readonly Judged[],
) => {
  for (const { name, rule } of invariants) test(`${name}: ${rule}`, () => expectNone(judged, name));
};

describe('2 to 150 extractions, broken and healthy', async () => {
  testEach(neighbourInvariants, await all(searchRandom('population', 0, 50 / share)));
});

describe('a hostile caller beside one to three others', async () => {
  testEach(neighbourhoodInvariants, await all(searchRandom('neighbour', 0, 100 / share)));
});

describe('a hostile caller and what all share', async () => {
  testEach(sharedInvariants, await all(searchRandom('sharing', 0, 40 / share)));
});

test('the table of design.md has each of these properties, and no others', () => {
  const design = readFileSync(new URL('../../docs/design.md', import.meta.url), 'utf8');
  const [, section = ''] = /### What extractions share\n(.*?)\n### /s.exec(design) ?? [];
  const named = new Set([...section.matchAll(/`([a-z]+-[a-z-]+)`/g)].map(([, name]) => name));
  const properties = [...neighbourhoodInvariants, ...sharedInvariants];
  const known = [...properties, ...mixInvariants, ...backlogInvariants].map(({ name }) => name);
  expect([...named].filter((name) => !known.includes(name ?? ''))).toEqual([]);
  expect(properties.filter(({ name }) => !named.has(name))).toEqual([]);
});

describe('two to four extractions, most of one login', async () => {
  const judged = await all(searchRandom('refusal', 0, 300 / share));
  const count = (isOne: (fact: RefusalFact) => boolean): number =>
    judged.flatMap(({ service }) => service.facts).filter(isOne).length;
  testEach(refusalInvariants, judged);

  test('credentials were refused and accepted, tasks were adopted, and refusals forgotten', {
    tags: ['slow'],
  }, () => {
    expect(
      count((fact) => fact.kind === 'status' && fact.reason === 'credentials-refused-before'),
    ).toBeGreaterThan(60);
    expect(count((fact) => fact.kind === 'marked' && fact.mark.isRefused)).toBeGreaterThan(200);
    expect(count((fact) => fact.kind === 'marked' && !fact.mark.isRefused)).toBeGreaterThan(20);
    expect(count((fact) => fact.kind === 'linked' && fact.isAdopted)).toBeGreaterThan(2);
    expect(count((fact) => fact.kind === 'forgotten')).toBeGreaterThan(50);
  });
});

test.each(randomKinds)(
  'a population is the same if it is run again: %s',
  { tags: ['slow'] },
  async (kind) => {
    const traceOfFirst = async () => (await all(searchRandom(kind, 0, 1))).map(traceOf);
    expect(await traceOfFirst()).toEqual(await traceOfFirst());
  },
);

test('while reads hang for an hour, messages that wait cause no reads beside those that are due', {
  tags: ['slow'],
}, async () => {
  const judged = await judge(backlogCase);
  expect(judged.violations).toEqual([]);
});

test('200 starts a second at 100 banks, 20 % of them slow, write at most 200 units a second of breakers', {
  tags: ['slow'],
}, async () => {
  const service = new Service(slowPopulation(100, 20), randomChoices(1));
  await service.run(({ time, startedAt }) => time.now > startedAt + 20_000);
  expect(writesASecondOf(service, 10, 20).units).toBeLessThanOrEqual(200);
});

test.each(mixCases)('$name: the healthy ones end as they would alone', { tags: ['slow'] }, async (found) => {
  const judged = await judge(found);
  expect(judged.violations.length === 0 ? '' : traceOf(judged)).toBe('');
});

test.each(crowdCases)('a crowd $population.name', { tags: ['slow'] }, async (found) => {
  const judged = await judge(found);
  expect(judged.violations.length === 0 ? '' : traceOf(judged)).toBe('');
});
