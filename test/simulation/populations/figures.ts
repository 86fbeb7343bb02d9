import { randomOf } from '../../support/random.ts';
import { countsOf } from './breaker-invariants.ts';
import { randomChances } from './chances.ts';
import { isLost, secondsOf } from './outcomes.ts';
import { type CallKind, isHealthy, type Member, member, type Outage, type Population } from './population.ts';
import { openIn, Service } from './service.ts';

type Mix = {
  readonly name: string;
  readonly members: readonly Member[];
  readonly outages?: readonly Outage[];
  /** How many seeds are run, and counted together. */
  readonly runs?: number;
};

const random = randomOf(1);

/** Requests at equal intervals, in seconds. `from` makes their ids differ from those of others. */
const requests = (
  count: number,
  every: number,
  fieldsOf: (index: number) => Partial<Member>,
  from = 0,
): readonly Member[] =>
  Array.from({ length: count }, (_, index) => member(from + index, index * every, fieldsOf(index)));

/** One whose reads always fail, every so many seconds. It goes on until those of the first hours are closed. */
const failingReads = (every: number): readonly Member[] =>
  requests((28 * 3_600) / every, every, () => ({
    method: 'consent',
    trouble: 'answers 500',
    calls: ['read'],
  }));

const beside = (count: number, every: number, fields: Partial<Member>): readonly Member[] =>
  requests(count, every, () => ({ takes: 60, ...fields }), 1_000_000);

const oneIn = (many: number, trouble: Member['trouble']) => (): Partial<Member> =>
  random.below(many) === 0 && trouble !== undefined ? { trouble, calls: ['start'] } : {};

const mixes: readonly Mix[] = [
  {
    name: '1 broken consent beside 1 healthy consent each 300 s',
    members: [...failingReads(300), ...beside(24, 300, { method: 'consent' })],
    runs: 5,
  },
  {
    name: '1 broken consent beside 1 healthy by credentials each 300 s',
    members: [...failingReads(300), ...beside(24, 300, {})],
    runs: 5,
  },
  {
    name: '5 % broken beside one consent each 20 s',
    members: [...failingReads(380), ...beside(360, 20, { method: 'consent' })],
  },
  {
    name: '5 % broken beside one by credentials each 20 s',
    members: [...failingReads(380), ...beside(360, 20, {})],
  },
  { name: 'starts, 1 a second, 1 in 4 failing', members: requests(3_600, 1, oneIn(4, 'answers 500')) },
  { name: 'starts, 10 a second, 2 % failing', members: requests(12_000, 0.1, oneIn(50, 'answers 500')) },
  {
    name: '503 with `Retry-After: 3600` to 3 of 712 starts, one each 5 s',
    members: requests(712, 5, (index) =>
      [100, 300, 500].includes(index) ? { trouble: 'answers 503 for an hour', calls: ['start'] } : {},
    ),
  },
  {
    name: 'every answer takes 6 to 15 s, 1 a second',
    members: requests(1_800, 1, (index) => ({ method: index % 2 === 0 ? 'consent' : 'credentials' })),
    outages: [{ trouble: 'slow', from: 0, to: 100_000, calls: ['login', 'task token', 'start', 'read'] }],
  },
  {
    name: 'starts hang for 25 s, 3 a second for 20 s',
    members: requests(60, 1 / 3, () => ({})),
    outages: [{ trouble: 'hangs', from: 0, to: 60, calls: ['start'] }],
  },
];

/** Until every healthy extraction is closed. */
const run = (population: Population, seed = 1): Promise<Service> =>
  new Service(population, randomChances(seed)).run((service) => !openIn(service).some(isHealthy));

const p90 = (values: readonly number[]): string =>
  (values.toSorted((one, other) => one - other)[Math.floor(0.9 * values.length)] ?? 0).toFixed(0);

/** What became of the healthy ones, over all runs of a population. */
const fatesIn = (services: readonly Service[]) => {
  const healthy = services.flatMap((service) =>
    service.population.members
      .filter(isHealthy)
      .map((one) => ({ record: service.extractions.get(one.extractionId), isLost: isLost(service, one) })),
  );
  const ends = new Map<string, number>();
  for (const { record } of healthy.filter(({ isLost: lost }) => lost)) {
    const end = record?.collectionError ?? record?.status ?? 'not recorded';
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  const seconds = healthy.flatMap(({ record }) => (record === undefined ? [] : [secondsOf(record)]));
  const lost = [...ends].map(([end, count]) => `${count} \`${end}\``).join(', ') || '0';
  return { healthy: healthy.length, lost, p90: p90(seconds) };
};

const rowOf = async ({ name, members, outages = [], runs = 1 }: Mix): Promise<string> => {
  const population: Population = { members, outages, consumers: 50 };
  const services: Service[] = [];
  for (let seed = 1; seed <= runs; seed += 1) services.push(await run(population, seed));
  const is = fatesIn(services);
  const without = fatesIn([await run({ ...population, withoutBreaker: true })]);
  return `| ${name} | ${is.healthy} | ${is.lost} | ${is.p90} | ${without.lost} | ${without.p90} |`;
};

/** A million a day, a second. */
const perSecond = 11.6;

const minutes = 5;

const fullOutages: readonly (readonly [Outage['trouble'], string, readonly CallKind[]])[] = [
  ['refuses', 'logins and starts', ['login', 'start']],
  ['answers 503', 'starts', ['start']],
  ['answers 503', 'logins and starts', ['login', 'start']],
  ['hangs', 'starts', ['start']],
  ['hangs', 'logins and starts', ['login', 'start']],
];

const outageRowOf = async ([trouble, where, calls]: (typeof fullOutages)[number]): Promise<string> => {
  const seconds = 60 + 60 * minutes;
  const count = Math.round(perSecond * seconds);
  const service = await run({
    members: requests(count, seconds / count, () => ({})),
    outages: [{ trouble, from: 20, to: 20 + 60 * minutes, calls }],
    consumers: 50,
  });
  const { unconfirmed, probes } = countsOf(service);
  const failed = service.provider.calls.filter(({ result }) => result === 'trouble').length;
  return `| ${trouble} | ${where} | ${count} | ${failed} | ${probes} | ${unconfirmed} | ${service.mostStartsAtOnce} |`;
};

/** Prints what mixes of broken and healthy extractions take, and outages of five minutes, as rows of two tables. */
export const printFigures = async (print: (line: string) => void): Promise<void> => {
  print('| mix | healthy | lost | p90, s | lost without breaker | p90 without breaker, s |');
  print('| --- | ---: | --- | ---: | ---: | ---: |');
  for (const mix of mixes) print(await rowOf(mix));
  print('');
  print(
    '| the provider | in trouble | extractions | failed calls | probes | `UNCONFIRMED` | start-tasks at once |',
  );
  print('| --- | --- | ---: | ---: | ---: | ---: | ---: |');
  for (const outage of fullOutages) print(await outageRowOf(outage));
};
