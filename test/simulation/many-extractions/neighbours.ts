import type { Random } from '../../support/data/random.ts';
import { figuresOf, named, crowd as requests, takes } from './crowds.ts';
import { callerNamed, failing, type Member, type Population, type Trouble } from './draw-population.ts';
import type { Invariant } from './invariants.ts';
import { isStartOver } from './outcomes.ts';
import type { Service } from './service.ts';

/** What a neighbour provokes from the provider, and nothing else than `undefined` is his own fault. */
const provoked: readonly (Trouble | undefined)[] = [
  undefined,
  undefined,
  'answers 429',
  'answers 429 for ten minutes',
  'answers 429 for the user',
  'answers 500',
  'answers 400',
  'hangs',
  'slow',
  'flaps',
  'fails one call in ten',
];

/**
 * The requests of a hostile neighbour: bursts of some size at some speed, with pauses between, under one or both priorities, with as many names of
 * entities as he likes, of which a share provokes one kind of trouble.
 */
const drawHostile = (random: Random): readonly Member[] => {
  const trouble = random.pick(provoked);
  const names = random.pick([1, 5, 20, 220, 2_000]);
  const share = random.pick([5, 25, 50, 100]);
  const bursts = random.pick([1, 2, 4]);
  const size = random.pick([25, 100, 400]);
  const perSecond = random.pick([5, 20, 50]);
  const pause = random.pick([10, 60, 90]);
  const priorities = random.pick([1, 2]);
  return Array.from({ length: bursts }, (_, burst) => requests(size, { perSecond, from: 22 + burst * pause }))
    .flat()
    .map((one) => ({
      ...one,
      caller: callerNamed('Neighbour'),
      entity: `bank-${random.below(names)}`,
      ...(random.below(priorities) === 0 ? {} : { priority: 'background' as const }),
      ...(trouble !== undefined && random.below(100) < share ? failing(trouble) : {}),
    }));
};

const everySeconds = 1 / 1.5;
const calm = (index: number): readonly Member[] =>
  requests(240, { perSecond: 1.5, from: 10 + (index * everySeconds) / 4 }).map((one) => ({
    ...one,
    caller: callerNamed(`Calm${index}`),
    entity: 'healthy',
  }));

/** A provider that takes so many starts a second, and others beside a neighbour of whom nothing is known but that he is hostile. */
export const drawNeighbour = (random: Random): Population => {
  const others = random.pick([1, 1, 2, 3]);
  const perSecond = random.pick([5, 50]);
  const isSet = random.pick([true, false]);
  const calms = Array.from({ length: others }, (_, index) => [`calm${index}`, calm(index)] as const);
  return {
    name: 'neighbour',
    outages: [],
    consumers: 50,
    rate: takes(perSecond),
    line: isSet ? { perSecond: 0.98 * perSecond } : {},
    members: [['hostile', drawHostile(random)] as const, ...calms].flatMap(([prefix, members]) =>
      named(prefix, members),
    ),
  };
};

/** In seconds: the p99 of a caller with 1.5 starts a second, as long as that is less than his share of the rate. */
const maxWaitBeside = ({ line, members, rate }: Population): number | undefined => {
  const callers = new Set(members.map(({ caller }) => caller)).size;
  if ((rate?.perSecond(0) ?? 0) < 2 * callers) return undefined;
  return line?.perSecond === undefined ? 6 : 5;
};

const calmIn = ({ members }: Population): readonly string[] => [
  ...new Set(members.flatMap(({ extractionId }) => extractionId.match(/^calm\d/)?.[0] ?? [])),
];

export const neighbourhoodInvariants: readonly Invariant[] = [
  {
    name: 'neighbours-delay-little',
    rule: 'Whatever a caller requests and provokes, another one whose starts are less than its share of the rate waits for 5 s at most if the rate is set, and for 6 s if it is learnt (p99).',
    check: (service) => {
      const max = maxWaitBeside(service.population);
      if (max === undefined) return undefined;
      const late = figuresOf(service, calmIn(service.population)).beside.find(({ p99 }) => p99 > max);
      return late === undefined ? undefined : `${late.prefix} waits for ${late.p99.toFixed(1)} s (p99).`;
    },
  },
  {
    name: 'neighbours-lose-nothing',
    rule: 'Whatever a caller requests and provokes, each extraction of another one is started.',
    check: ({ population, extractions }) => {
      const lost = population.members.find(({ extractionId }) => {
        const { status } = extractions.get(extractionId) ?? {};
        return extractionId.startsWith('calm') && (status === 'NOT_STARTED' || status === 'UNCONFIRMED');
      });
      return lost === undefined ? undefined : `${lost.extractionId} was not started.`;
    },
  },
];

/** Everybody but the neighbour has been started, or is over. */
export const calmAreStarted = ({ population, extractions }: Service): boolean =>
  population.members.every(
    ({ extractionId }) => !extractionId.startsWith('calm') || isStartOver(extractions.get(extractionId)),
  );
