import type { Extraction } from '#lib/extraction/record.ts';
import { randomChoices } from './choices.ts';
import {
  callerNamed,
  failing,
  type Member,
  member,
  type Population,
  type ProviderRate,
} from './draw-population.ts';
import { isStartOver, percentile, secondsTo } from './outcomes.ts';
import { Service } from './service.ts';

/** A crowd at a provider that takes some starts a second. */
export type Crowd = {
  readonly name: string;
  readonly population: Population;
  /** The start of the ids whose waits are printed for themselves. */
  readonly beside?: readonly string[];
  /** What has to be reached, as far as it can be judged by numbers. */
  readonly wanted: {
    /** None by default. */
    readonly lost?: number;
    readonly refused?: number;
    /** Of all start calls. */
    readonly refusedShare?: number;
    readonly transitions?: number;
    readonly lastStart?: number;
    readonly unconfirmed?: number;
    /** Of each of `beside`, in seconds. */
    readonly p99?: readonly number[];
  };
};

const another = callerNamed('Another');

/** So many requests, at so many a second. */
export const crowd = (
  count: number,
  { perSecond = 50, from = 0, ...fields }: { perSecond?: number; from?: number } & Partial<Member> = {},
): readonly Member[] =>
  Array.from({ length: count }, (_, index) =>
    member(index, from + index / perSecond, { takes: 5, ...fields }),
  );

/** Another caller's requests, one in 20 s. */
const singles = (until: number): readonly Member[] =>
  crowd(Math.floor((until - 30) / 20), { perSecond: 1 / 20, from: 30, caller: another });

export const named = (prefix: string, members: readonly Member[]): readonly Member[] =>
  members.map((one, index) => ({ ...one, extractionId: `${prefix}-${`${index}`.padStart(5, '0')}` }));

export const takes = (perSecond: number, fields: Partial<ProviderRate> = {}): ProviderRate => ({
  perSecond: () => perSecond,
  burst: Math.max(1, perSecond),
  limiter: 'bucket',
  answers: 429,
  ...fields,
});

const at = (
  rate: ProviderRate,
  perSecond: number | undefined,
  groups: readonly (readonly [string, readonly Member[]])[],
  more: Partial<Population> = {},
): Population => ({
  members: groups.flatMap(([prefix, members]) => named(prefix, members)),
  outages: [],
  consumers: 50,
  rate,
  ...more,
  line: { ...(perSecond === undefined ? {} : { perSecond }), ...more.line },
});

const five = takes(5);
const main = (count = 10_000) => ['crowd', crowd(count)] as const;
const shedding = takes(5, { answers: 503 });
const unanswering = takes(5, { answers: 'hangs' });

/** Those that docs/rates.md cites, and models of providers, clocks and dispatchers, in the order in which they are printed. */
export const crowds: readonly Crowd[] = [
  {
    name: 'set right',
    population: at(five, 4.9, [main()]),
    wanted: { refused: 50, transitions: 3.2, lastStart: 2_150 },
  },
  {
    name: 'not set, learnt',
    population: at(five, undefined, [main()]),
    wanted: { refused: 500, transitions: 3.5, lastStart: 2_150 },
  },
  {
    name: "another caller's singles beside it",
    population: at(five, 4.9, [main(), ['single', singles(1_990)]]),
    beside: ['single'],
    wanted: { p99: [5] },
  },
  {
    name: 'the same, learnt',
    population: at(five, undefined, [main(), ['single', singles(1_990)]]),
    beside: ['single'],
    wanted: { p99: [5] },
  },
  {
    name: 'the rate falls to a fifth for 10 min',
    population: at(takes(5, { perSecond: (seconds) => (seconds > 600 && seconds < 1_200 ? 1 : 5) }), 4.9, [
      main(),
    ]),
    wanted: { lastStart: 3_000, refusedShare: 0.02 },
  },
  {
    name: 'refused calls count, learnt',
    population: at(takes(5, { limiter: 'counts-all' }), undefined, [main()]),
    wanted: { lastStart: 5_500, refusedShare: 0.11 },
  },
  {
    name: '3 % strays at 20/s, learnt',
    population: at(takes(20, { strayOneIn: 33 }), undefined, [main()]),
    wanted: { lastStart: 650, refusedShare: 0.05 },
  },
  {
    name: 'one user in 100 refused for 10 min, learnt',
    population: at(five, undefined, [
      main(9_900),
      ['refused', crowd(100, { perSecond: 0.5, ...failing('answers 429 for ten minutes') })],
    ]),
    wanted: { lastStart: 2_300, refusedShare: 0.05 },
  },
  { name: '240 at 1/s, set', population: at(takes(1), 1, [main(240)]), wanted: { refused: 40 } },
  {
    name: 'sheds with 503, 10,000 in 180 s',
    population: at(shedding, undefined, [
      ['crowd', crowd(10_000, { perSecond: 55.6 })],
      ['single', singles(2_190)],
    ]),
    beside: ['single'],
    wanted: { unconfirmed: 280 },
  },
  {
    name: 'sheds with 503, 3,600 in 600 s',
    population: at(shedding, undefined, [['crowd', crowd(3_600, { perSecond: 6 })]]),
    wanted: { unconfirmed: 70 },
  },
  {
    name: 'the last second counts refused calls, 1,000 in 60 s',
    population: at(takes(5, { limiter: 'last-second' }), undefined, [
      ['crowd', crowd(1_000, { perSecond: 16.7 })],
    ]),
    wanted: { refusedShare: 0.1 },
  },
  {
    name: 'answers in up to 8 s, 3,000, set',
    population: at(five, 4.9, [['crowd', crowd(3_000, failing('answers in 8 s'))]]),
    wanted: { lastStart: 700 },
  },
  {
    name: 'half of the clocks 120 s ahead, 3,000, learnt',
    population: at(five, undefined, [main(3_000)], { clocksAhead: 120 }),
    wanted: { refusedShare: 0.1 },
  },
  {
    name: 'dispatcher dead for 10 min',
    population: at(five, 4.9, [main()], { line: { deadFrom: 100, deadTo: 700 } }),
    wanted: { lastStart: 2_044 + 600 + 90 },
  },
  {
    // Until a call is slow, for 5 s, some 250 more are made than it takes.
    name: 'leaves without an answer, 10,000 in 180 s',
    population: at(unanswering, undefined, [['crowd', crowd(10_000, { perSecond: 55.6 })]]),
    wanted: { unconfirmed: 450 },
  },
  {
    name: 'leaves without an answer at 40 banks, 3,600 in 600 s',
    population: at(unanswering, undefined, [
      [
        'crowd',
        crowd(3_600, { perSecond: 6 }).map((one, index) => ({ ...one, entity: `bank-${index % 40}` })),
      ],
    ]),
    wanted: { unconfirmed: 70, lastStart: 900 },
  },
];

/** A start is over once nobody tries it any more. */
export const allStarted = ({ population, extractions }: Service): boolean =>
  population.members.every(({ extractionId }) => isStartOver(extractions.get(extractionId)));

type CrowdFigures = {
  readonly lost: number;
  readonly unconfirmed: number;
  readonly refused: number;
  readonly calls: number;
  readonly transitions: number;
  readonly lastStart: number;
  readonly beside: readonly {
    readonly prefix: string;
    readonly p99: number;
    readonly unconfirmed: number;
  }[];
};

/** An operator has cancelled it, or somebody erases it. */
const isWithdrawn = ({ lastProblem }: Extraction): boolean =>
  lastProblem === 'cancelled' || lastProblem === 'erased';

export const figuresOf = (service: Service, beside: readonly string[] = []): CrowdFigures => {
  const { population, extractions, provider, transitions, startedAt } = service;
  const records = population.members.map(({ extractionId }) => extractions.get(extractionId));
  const count = (status: string): number => records.filter((one) => one?.status === status).length;
  const calls = provider.calls.filter(({ kind }) => kind === 'start');
  const started = records.flatMap((one) => one?.startedAt ?? []).map((time) => Date.parse(time) - startedAt);
  const all = [...transitions.values()];
  return {
    lost: records.filter((one) => one?.status === 'NOT_STARTED' && !isWithdrawn(one)).length,
    unconfirmed: count('UNCONFIRMED'),
    refused: calls.filter(({ result }) => result === 'refused').length,
    calls: calls.length,
    transitions: all.reduce((sum, one) => sum + one, 0) / all.length,
    lastStart: Math.max(...started) / 1_000,
    beside: beside.map((prefix) => {
      const own = records.filter((one) => one?.extractionId.startsWith(prefix) === true);
      const waits = own.map((one) => secondsTo(one, 'start')).filter(Number.isFinite);
      return {
        prefix,
        p99: percentile(waits, 0.99),
        unconfirmed: own.filter((one) => one?.status === 'UNCONFIRMED').length,
      };
    }),
  };
};

/** What a crowd missed. */
export const missedBy = (figures: CrowdFigures, { wanted }: Pick<Crowd, 'wanted'>): readonly string[] => {
  const { lost, refused, calls, transitions, lastStart, unconfirmed, beside } = figures;
  const over = (name: string, is: number, most: number | undefined): readonly string[] =>
    most === undefined || is <= most ? [] : [`${name} ${is.toFixed(2)} > ${most}`];
  return [
    ...over('lost', lost, wanted.lost ?? 0),
    ...over('refused', refused, wanted.refused),
    ...over('refused share', refused / calls, wanted.refusedShare),
    ...over('transitions', transitions, wanted.transitions),
    ...over('last start', lastStart, wanted.lastStart),
    ...over('UNCONFIRMED', unconfirmed, wanted.unconfirmed ?? 0),
    ...beside.flatMap(({ p99, unconfirmed: lostBeside }, index) => [
      ...over('p99', p99, wanted.p99?.[index]),
      ...over('UNCONFIRMED beside', lostBeside, 0),
    ]),
  ];
};

/** What is wanted of a crowd, beside that none is lost. */
const describeWanted = ({ wanted }: Crowd): string => {
  const { refused, refusedShare, transitions, lastStart, unconfirmed, p99 } = wanted;
  const most = [
    ['refused', refused],
    ['refused %', refusedShare === undefined ? undefined : 100 * refusedShare],
    ['transitions', transitions],
    ['last start', lastStart],
    ['`UNCONFIRMED`', unconfirmed],
    ['p99', p99?.join()],
  ] as const;
  return most.flatMap(([name, value]) => (value === undefined ? [] : `${name} ≤ ${value}`)).join('; ');
};

/** Prints what crowds cost at the provider's rate. */
export const printCrowds = async (print: (line: string) => void, only = ''): Promise<boolean> => {
  let isReached = true;
  print(
    '| crowd | lost | `UNCONFIRMED` | refused | transitions | last start, s | beside it: p99, s | wanted | missed |',
  );
  print('| --- | ---: | ---: | ---: | ---: | ---: | --- | --- | --- |');
  for (const one of crowds) {
    if (!one.name.includes(only)) continue;
    const service = await new Service(one.population, randomChoices(1)).run(allStarted);
    const figures = figuresOf(service, one.beside);
    const missed = missedBy(figures, one);
    isReached &&= missed.length === 0;
    const { lost, unconfirmed, refused, calls, transitions, lastStart, beside } = figures;
    const waits = beside.map(({ prefix, p99 }) => `${prefix} ${p99.toFixed(1)}`);
    const share = ((100 * refused) / calls).toFixed(1);
    print(
      `| ${one.name} | ${lost} | ${unconfirmed} | ${refused} (${share} %) | ${transitions.toFixed(2)} | ${lastStart.toFixed(0)} | ${waits.join('; ')} | ${describeWanted(one)} | ${missed.join('; ')} |`,
    );
  }
  return isReached;
};
