import { countsOf, writesASecondOf } from './breaker-invariants.ts';
import { floods, outagePopulation, populationOf, slowPopulation } from './broken-beside-healthy.ts';
import { randomChoices } from './choices.ts';
import { allStarted } from './crowds.ts';
import type { Member, Population } from './draw-population.ts';
import { outcomeOf, percentile, secondsTo } from './outcomes.ts';
import { openIn, Service } from './service.ts';
import { settings } from './settings.ts';

type Print = (line: string) => void;

const run = (population: Population, isOver: (service: Service) => boolean): Promise<Service> =>
  new Service(population, randomChoices(1)).run(isOver);

const until =
  (those: readonly Member[]) =>
  (service: Service): boolean => {
    const open = new Set(openIn(service));
    return !those.some((one) => open.has(one));
  };

const describeDelays = (delays: readonly number[]): string =>
  [0.5, 0.99].map((share) => percentile(delays, share).toFixed(0)).join(' / ');

/** How many healthy ones end otherwise than alone, and how much longer their start and their results take. */
const harmIn = async (population: Population, apart: readonly Member[]) => {
  const service = await run(population, until(apart));
  const alone = await run({ ...population, members: apart }, until(apart));
  const differs = ({ extractionId }: Member): boolean =>
    outcomeOf(service.extractions.get(extractionId)) !== outcomeOf(alone.extractions.get(extractionId));
  const delaysTo = (end: 'start' | 'results'): readonly number[] =>
    apart.map(({ extractionId }) => {
      const [is, was] = [service, alone].map(({ extractions }) =>
        secondsTo(extractions.get(extractionId), end),
      ) as [number, number];
      return Math.max(0, is - was);
    });
  return {
    healthy: apart.length,
    harmed: apart.filter(differs).length,
    delays: (['start', 'results'] as const).map((end) => describeDelays(delaysTo(end))).join(' | '),
    startsAtOnce: service.maxStartsAtOnce,
  };
};

const outages = [
  { name: 'hangs for 5 min', trouble: 'hangs', minutes: 5 },
  { name: 'answers 503 for 5 min', trouble: 'answers 503', minutes: 5 },
  { name: 'hangs for 5 min, and refuses 3/s', trouble: 'hangs', minutes: 5, refused: 3 },
  { name: 'refuses connections for 5 min', trouble: 'refuses', minutes: 5 },
] as const;

/** It takes a quarter of an hour, so that it is simulated for one number of groups only. */
const longOutage = { name: 'hangs for 1 h', trouble: 'hangs', minutes: 60, groups: 100 } as const;

const printOutages = async (print: Print): Promise<void> => {
  print('| the provider | groups | extractions | turns | `UNCONFIRMED` | start-tasks at once |');
  print('| --- | ---: | ---: | ---: | ---: | ---: |');
  const each = outages.flatMap((outage) => [1, 20, 100, 500].map((groups) => ({ ...outage, groups })));
  for (const { name, groups, ...outage } of [...each, longOutage]) {
    const population = outagePopulation({ ...outage, groups });
    const service = await run(population, allStarted);
    const { unconfirmed, turns } = countsOf(service);
    print(
      `| ${name} | ${groups} | ${population.members.length} | ${turns} | ${unconfirmed} | ${service.maxStartsAtOnce} |`,
    );
  }
};

/** How hot the item of a caller gets. In the first ten seconds, no slow start is reported or little is known. */
const printBreakerWrites = async (print: Print): Promise<void> => {
  print('| 200 starts a second, 20 % slow | writes a second | of them lost races | write units a second |');
  print('| --- | ---: | ---: | ---: |');
  for (const groups of [1, 20, 50, 100, 200, 400]) {
    const service = await run(
      slowPopulation(groups, 40),
      ({ time, startedAt }) => time.now > startedAt + 40_000,
    );
    const { writes, lost, units } = writesASecondOf(service, 10, 40);
    print(`| groups: ${groups} | ${writes} | ${lost} | ${units} |`);
  }
};

/** Prints what one caller takes from another, by the throttle of a route and behind it. */
export const printFloods = async (print: Print): Promise<void> => {
  print('| one caller sends, a second | refused of each caller, by one try | by the five of the client |');
  print('| ---: | ---: | ---: |');
  for (const sent of [1, 2, 10, 200].map((times) => times * settings.apiRateLimit)) {
    // The other caller sends one a second.
    const refused = 1 - settings.apiRateLimit / (sent + 1);
    print(`| ${sent} | ${(100 * refused).toFixed(1)} % | ${(100 * refused ** 5).toFixed(1)} % |`);
  }
  print('');
  print(
    `| ${settings.apiRateLimit} a second are accepted for 5 min | of the other | end otherwise | start later, p50 / p99 s | results later, p50 / p99 s | start-tasks at once |`,
  );
  print('| --- | ---: | ---: | ---: | ---: | ---: |');
  for (const mix of floods) {
    const population = populationOf(mix, 300, 'another');
    const others = population.members.filter(({ extractionId }) => extractionId.startsWith('healthy'));
    const { healthy, harmed, delays, startsAtOnce } = await harmIn(population, others);
    print(`| ${mix.name} | ${healthy} | ${harmed} | ${delays} | ${startsAtOnce} |`);
  }
};

/** Prints what outages of the provider cost, as tables. */
export const printFigures = async (print: Print): Promise<void> => {
  await printOutages(print);
  print('');
  await printBreakerWrites(print);
};
