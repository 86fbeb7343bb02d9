import { randomOf } from '../../support/data/random.ts';
import {
  callerNamed,
  failing,
  type Member,
  member,
  type Outage,
  type Population,
  type Trouble,
} from './draw-population.ts';
import { settings } from './settings.ts';

/** Broken and healthy extractions side by side. Each mix harmed healthy ones under former rules. */
type Mix = {
  readonly name: string;
  /** What is broken, and what is healthy, requested within so many seconds. */
  readonly broken: (seconds: number) => readonly Member[];
  readonly healthy: (seconds: number) => readonly Member[];
  /** The longest time within which all are requested, in seconds. */
  readonly within?: number;
  /** A caller that requests ever new groups harms itself: no breaker can distinguish its healthy ones from the others. */
  readonly only?: 'another';
};

const random = randomOf(1);

/** Requests at equal intervals, in seconds. `from`: of the first. */
const requests = (
  seconds: number,
  every: number,
  fieldsOf: (index: number) => Partial<Member>,
  from = 0,
): readonly Member[] =>
  Array.from({ length: Math.ceil(seconds / every) }, (_, index) =>
    member(index, from + index * every, fieldsOf(index)),
  );

/** Banks that fail, requested together every so many seconds. Of each, a share of the extractions fails. */
const banks =
  (count: number, every: number, trouble: Trouble, share = 1): Mix['broken'] =>
  (seconds) =>
    requests(seconds, every, (index) => ({
      entity: `failing-bank-${index % count}`,
      ...(random.below(100) < 100 * share ? failing(trouble) : {}),
    }));

/** Consents whose reads fail. */
const consents =
  (every: number, trouble: Trouble): Mix['broken'] =>
  (seconds) =>
    requests(seconds, every, () => ({ method: 'consent', ...failing(trouble, ['read']) }));

const healthy =
  (every: number, fields: Partial<Member> = {}): Mix['healthy'] =>
  (seconds) =>
    requests(seconds, every, () => ({ takes: 60, ...fields }), 3);

const consent = { method: 'consent' } as const;

export const mixes: readonly Mix[] = [
  { name: '1 bank, 500 to each, 1/s; healthy 1/s', broken: banks(1, 1, 'answers 500'), healthy: healthy(1) },
  {
    name: '1 bank, 500 to 71 %, 1/s; healthy 1 in 5 s',
    broken: banks(1, 1, 'answers 500', 0.71),
    healthy: healthy(5),
  },
  { name: '5 banks hang, 1 in 10 s; healthy 1 in 20 s', broken: banks(5, 10, 'hangs'), healthy: healthy(20) },
  { name: '10 banks hang, 1 in 3 s; healthy 1 in 60 s', broken: banks(10, 3, 'hangs'), healthy: healthy(60) },
  { name: '30 banks hang, 1/s; healthy 1 in 10 s', broken: banks(30, 1, 'hangs'), healthy: healthy(10) },
  { name: '10 banks flap, 1/s; healthy 1 in 10 s', broken: banks(10, 1, 'flaps'), healthy: healthy(10) },
  {
    name: '5 groups a second that are never seen again hang; healthy 1 in 10 s',
    broken: (seconds) =>
      requests(seconds, 0.2, (index) => ({ entity: `minted-${index}`, ...failing('hangs') })),
    healthy: healthy(10),
    only: 'another',
    within: 300,
  },
  {
    name: 'reads of consents fail, 400 in 5 min; healthy consents 1 in 3 s',
    broken: consents(0.75, 'answers 500'),
    healthy: healthy(3, consent),
    within: 300,
  },
  {
    name: 'reads of consents hang, 2,000 in 5 min; healthy consents 1 in 3 s',
    broken: consents(0.15, 'hangs'),
    healthy: healthy(3, consent),
    within: 300,
  },
  {
    name: 'the bucket hangs for 2,000 consents in 5 min; healthy consents 1 in 3 s',
    broken: (seconds) => requests(seconds, 0.15, () => ({ ...consent, ...failing('hangs', ['store']) })),
    healthy: healthy(3, consent),
    within: 300,
  },
  {
    name: '10 banks flap, 1/s; healthy 5/s',
    broken: banks(10, 1, 'flaps'),
    healthy: healthy(0.2),
  },
  {
    name: '20 starts a second at 20 banks, of which 2 hang; healthy 1/s',
    broken: (seconds) =>
      requests(seconds, 0.05, (index) => ({
        entity: `bank-${index % 20}`,
        ...(index % 20 < 2 ? failing('hangs') : {}),
      })),
    healthy: healthy(1),
    within: 200,
  },
  {
    name: '5 starts a second at 20 banks, 10 % fail at random; healthy 1/s',
    broken: banks(20, 0.2, 'answers 500', 0.1),
    healthy: healthy(1),
  },
  {
    name: '1 bank, 500 to each, 1/s; healthy 5/s',
    broken: banks(1, 1, 'answers 500'),
    healthy: healthy(0.2),
    only: 'another',
  },
];

/** Nothing of these is broken: one caller requests at the throttle of `POST /extractions`, beside another that requests once in 3 s. */
const floodFor = (name: string, fields: Partial<Member>): Mix => ({
  name,
  broken: (seconds) => requests(seconds, 1 / settings.apiRateLimit, () => ({ takes: 60, ...fields })),
  healthy: (seconds) => [...healthy(6)(seconds), ...healthy(6, consent)(seconds)],
  within: 300,
});

export const floods: readonly Mix[] = [
  floodFor('credentials', {}),
  floodFor('credentials, no webhook arrives', { delivered: false }),
  floodFor('consents', consent),
  floodFor('starts that hang', failing('hangs')),
  floodFor('consents whose reads hang', { ...consent, ...failing('hangs', ['read']) }),
];

/** One population of a mix: the healthy ones under the caller of the broken ones, or under another. */
export const populationOf = (mix: Mix, maxSeconds: number, caller: 'same' | 'another'): Population => {
  const seconds = Math.min(maxSeconds, mix.within ?? maxSeconds);
  const broken = mix.broken(seconds);
  const others = mix.healthy(seconds).map((one, index) => ({
    ...one,
    extractionId: `healthy-${index}`,
    ...(caller === 'another' ? { caller: callerNamed('Another') } : {}),
  }));
  const members = [...broken, ...others].map((one, index) =>
    one.extractionId.startsWith('healthy') ? one : { ...one, extractionId: `extraction-${index}` },
  );
  return { members, outages: [], consumers: 50, line: {} };
};

/** Starts at so many groups of one caller, a million a day, while the provider is in trouble for some minutes. */
export const outagePopulation = ({
  trouble,
  minutes,
  groups,
  refused = 0,
}: {
  readonly trouble: Outage['trouble'];
  readonly minutes: number;
  readonly groups: number;
  /** Starts a second that are refused with a 400 besides. */
  readonly refused?: number;
}): Population => {
  const seconds = 60 * minutes;
  const own = randomOf(groups);
  const bank = () => ({ entity: `bank-${own.below(groups)}` });
  const members = [
    ...requests(seconds + 60, 1 / 11.6, bank),
    ...(refused === 0
      ? []
      : requests(seconds + 60, 1 / refused, () => ({ ...bank(), ...failing('answers 400') }))),
  ].map((one, index) => ({ ...one, extractionId: `extraction-${index}` }));
  return { members, outages: [{ trouble, from: 20, to: 20 + seconds, calls: ['start'] }], consumers: 50 };
};

/** 200 starts a second of one caller, of which 20 % are slow. Ids are as long as those of the product. */
export const slowPopulation = (groups: number, seconds: number): Population => {
  const own = randomOf(groups);
  const members = requests(seconds, 1 / 200, () => ({
    entity: `bank-${own.below(groups)}`,
    ...(own.below(5) === 0 ? failing('slow') : {}),
  })).map((one, index) => ({ ...one, extractionId: `extraction-${index}`.padStart(36, '-') }));
  return { members, outages: [], consumers: 50 };
};

/**
 * All reads hang for some hours, so that every extraction stays open after its webhook. A million a day at 50 consumers of each queue,
 * in the proportion of the consumers that there are. Requests go on for an hour after it.
 */
export const backlogPopulation = (hours: number, consumers: number): Population => {
  const perSecond = (11.6 * consumers) / 50;
  const seconds = 3_600 * hours;
  const members = requests(seconds + 3_600, 1 / perSecond, () => ({}));
  return { members, outages: [{ trouble: 'hangs', from: 0, to: seconds, calls: ['read'] }], consumers };
};
