import { type Random, randomOf } from '../../support/data/random.ts';
import type { PlantedFault } from '../planted-faults/planted-fault.ts';
import type { Caught } from '../planted-faults/search-with-fault.ts';
import { countsOf } from './breaker-invariants.ts';
import { backlogPopulation, mixes, populationOf } from './broken-beside-healthy.ts';
import { randomChoices } from './choices.ts';
import { crowdInvariants, smallCrowds } from './crowd-invariants.ts';
import { allStarted } from './crowds.ts';
import { apartIn, drawOutage, drawPopulation, isHealthy, type Population } from './draw-population.ts';
import { drawRefusals, lastsSeconds } from './draw-refused-credentials.ts';
import {
  backlogInvariants,
  type Invariant,
  mixInvariants,
  neighbourInvariants,
  outageInvariants,
  whileOthersAreOpen,
} from './invariants.ts';
import { calmAreStarted, drawNeighbour, neighbourhoodInvariants } from './neighbours.ts';
import { outcomeOf } from './outcomes.ts';
import { refusalInvariants } from './refused-credentials-invariants.ts';
import { allAreClosed, openIn, Service } from './service.ts';
import { calmIsOver, drawSharing, sharedInvariants } from './shared-parts.ts';

/** How a population is found again: as `outage-7`, or as `population-7/0,3` with the members that are left. */
type Case = {
  readonly name: string;
  readonly population: Population;
  /** Of all that is left to chance in it. */
  readonly seed: number;
  readonly invariants: readonly Invariant[];
  readonly isOver: (service: Service) => boolean;
};

export type Judged = {
  readonly found: Case;
  readonly service: Service;
  /** The invariants that are broken, the most exact one first. */
  readonly violations: readonly { readonly invariant: string; readonly what: string }[];
};

/** Those in failing groups may wait for their start window. They are not compared. */
const healthyAreClosed = (service: Service): boolean => {
  const apart = new Set(apartIn(service.population));
  return !openIn(service).some((one) => apart.has(one));
};

const replayed = (service: Service): boolean =>
  allAreClosed(service) && service.time.now >= service.startedAt + lastsSeconds(service.population) * 1_000;

export const randomKinds = ['outage', 'population', 'refusal', 'neighbour', 'sharing'] as const;

type RandomKind = (typeof randomKinds)[number];

/** How each kind is drawn, what must hold, and when it is over. */
const kinds: Readonly<
  Record<RandomKind, Pick<Case, 'invariants' | 'isOver'> & { readonly draw: (random: Random) => Population }>
> = {
  outage: { draw: drawOutage, invariants: outageInvariants, isOver: allAreClosed },
  population: { draw: drawPopulation, invariants: neighbourInvariants, isOver: allAreClosed },
  refusal: { draw: drawRefusals, invariants: refusalInvariants, isOver: replayed },
  neighbour: { draw: drawNeighbour, invariants: neighbourhoodInvariants, isOver: calmAreStarted },
  sharing: { draw: drawSharing, invariants: sharedInvariants, isOver: calmIsOver },
};

const random = (kind: RandomKind, seed: number, left?: readonly number[]): Case => {
  const { draw, ...rest } = kinds[kind];
  const population = draw(randomOf(seed));
  const members = population.members.filter((_one, index) => left?.includes(index) ?? true);
  return {
    name: left === undefined ? `${kind}-${seed}` : `${kind}-${seed}/${left.join(',')}`,
    population: { ...population, members },
    seed,
    ...rest,
  };
};

/** Ten minutes of a named mix. One that is never started is lost after the start window, as in an hour. */
const mixed = (index: number, caller: 'same' | 'another'): Case => ({
  name: `mix-${index}-${caller}`,
  population: populationOf(mixes[index] as (typeof mixes)[number], 600, caller),
  seed: 1,
  invariants: mixInvariants,
  isOver: healthyAreClosed,
});

/** The mixes in order, beside the same caller and beside another. */
export const mixCases: readonly Case[] = mixes.flatMap(({ only }, index) =>
  (['same', 'another'] as const)
    .filter((caller) => only === undefined || caller === only)
    .map((caller) => mixed(index, caller)),
);

/** Of an hour without reads, an hour later nothing is left. */
export const backlogCase: Case = {
  name: 'backlog',
  population: backlogPopulation(1, 2),
  seed: 1,
  invariants: backlogInvariants,
  isOver: allAreClosed,
};

/** Small crowds at the provider's rate. */
export const crowdCases: readonly Case[] = smallCrowds.map(({ population }, index) => ({
  name: `crowd-${index}`,
  population,
  seed: 1,
  invariants: crowdInvariants,
  isOver: allStarted,
}));

/** The case of a name, or undefined if it names none. */
export const findCase = (name: string): Case | undefined => {
  const [, kind = '', index = '', list] =
    /^(outage|population|refusal|neighbour|sharing)-(\d+)(?:\/([\d,]*))?$/.exec(name) ?? [];
  const numbers = list?.split(',').flatMap((number) => (number === '' ? [] : [Number(number)]));
  if (kind in kinds) return random(kind as RandomKind, Number(index), numbers);
  return [...mixCases, backlogCase, ...crowdCases].find((one) => one.name === name);
};

const run = ({ population, seed, isOver }: Case): Promise<Service> =>
  new Service(population, randomChoices(seed)).run(isOver);

/** Runs a case without those that are broken. An outage has no such case: it concerns all. */
const runAlone = async (found: Case): Promise<Service | undefined> => {
  const { population } = found;
  // Of one login, nobody is broken.
  if (population.outages.length > 0 || population.keptDays !== undefined || population.name !== undefined)
    return undefined;
  return run({ ...found, population: { ...population, members: population.members.filter(isHealthy) } });
};

/** Runs a case, and checks its invariants. */
export const judge = async (found: Case): Promise<Judged> => {
  const service = await run(found);
  const reference = (await runAlone(found)) ?? service;
  const violations = found.invariants.flatMap(({ name, check }) => {
    const what = check(service, reference);
    return what === undefined ? [] : [{ invariant: name, what }];
  });
  return { found, service, violations };
};

/** Leaves out one member after the other, while the same invariant still breaks. What is not drawn stays as it is. */
export const shrink = async (judged: Judged): Promise<Judged> => {
  const [, kind, seed] =
    /^(outage|population|refusal|neighbour|sharing)-(\d+)$/.exec(judged.found.name) ?? [];
  let smallest = judged;
  let left = [...judged.found.population.members.keys()];
  for (const index of kind === undefined ? [] : left) {
    const fewer = left.filter((one) => one !== index);
    if (fewer.length === 0) break;
    const without = await judge(random(kind as RandomKind, Number(seed), fewer));
    if (without.violations[0]?.invariant !== judged.violations[0]?.invariant) continue;
    smallest = without;
    left = fewer;
  }
  return smallest;
};

/** The members, the calls to the provider and the changes of the breakers, in order, as text. */
export const traceOf = ({ found, service, violations }: Judged): string => {
  const { population, provider, changes, extractions } = service;
  const seconds = (at: number): string => ((at - service.startedAt) / 1_000).toFixed(3).padStart(9);
  const calls = provider.calls.map(({ at, process, of, kind, result = 'no answer' }) => ({
    at,
    text: `${process}: ${kind} of ${of} → ${result}`,
  }));
  const changed = changes.map(({ at, caller, after }) => ({
    at,
    text: `${caller}: ${JSON.stringify(after)}`,
  }));
  return [
    JSON.stringify({ ...population, members: population.members.length }),
    ...population.members.map(
      (one) => `${JSON.stringify(one)} → ${outcomeOf(extractions.get(one.extractionId))}`,
    ),
    ...[...calls, ...changed]
      .toSorted((one, other) => one.at - other.at)
      .map(({ at, text }) => `${seconds(at)} ${text}`),
    JSON.stringify(countsOf(service)),
    ...violations.map(({ invariant, what }) => `${invariant}: ${what}`),
    `Repeat it:  npm run simulate -- --replay ${found.name}`,
  ].join('\n');
};

/** The populations of these seeds, one after the other. */
export const searchRandom = async function* (
  kind: RandomKind,
  from: number,
  to: number,
): AsyncGenerator<Judged, void> {
  for (let seed = from; seed < to; seed += 1) yield judge(random(kind, seed));
};

/** How many seeds are searched for a fault. */
const maxSeeds = 300;

/**
 * Searches populations for a broken invariant, in the same order each time. Those of broken and healthy extractions end when
 * the healthy ones are closed, as a fault harms these.
 */
export const searchWithFault = async ({ world, firstSeed = 1 }: PlantedFault): Promise<Caught> => {
  let schedules = 0;
  for (let seed = firstSeed; seed < firstSeed + maxSeeds; seed += 1) {
    const named: Partial<Record<string, readonly Case[]>> = {
      mix: [...mixCases, backlogCase],
      crowd: crowdCases,
    };
    const cases = named[world ?? ''];
    const found = cases === undefined ? random(world as RandomKind, seed) : cases[seed - 1];
    if (found === undefined) break;
    const judged = await judge(
      world === 'population' ? { ...found, invariants: whileOthersAreOpen, isOver: healthyAreClosed } : found,
    );
    schedules += 1;
    const [violation] = judged.violations;
    if (violation === undefined) continue;
    const trace = `${violation.invariant}: ${violation.what}\n${traceOf(judged)}`;
    return { invariant: violation.invariant, schedules, schedule: judged.found.name, trace };
  }
  return { invariant: undefined, schedules, schedule: '', trace: '' };
};
