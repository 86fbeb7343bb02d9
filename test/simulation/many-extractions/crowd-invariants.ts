import { parseRateState, rateItem } from '#lib/rate-limit/rate-state.ts';
import type { StoredItem } from '#lib/shared-item/shared-item.ts';
import { type Crowd, figuresOf, missedBy, named, crowd as requests, takes } from './crowds.ts';
import { groupOf, isHealthy, type Member, type Population } from './draw-population.ts';
import type { Invariant } from './invariants.ts';
import type { Service } from './service.ts';

const another = 'arn:aws:iam::111122223333:role/Another';
const banks = (count: number) => (index: number) => ({ entity: `bank-${index % count}` });

const spread = (
  count: number,
  perSecond: number,
  fields: (index: number) => Partial<Member> = () => ({}),
  from = 0,
): readonly Member[] =>
  requests(count, { perSecond, from }).map((one, index) => ({ ...one, ...fields(index) }));

const beside = spread(40, 1, () => ({ caller: another }), 8);

type Groups = Readonly<Record<string, readonly Member[]>>;

const small = (
  name: string,
  { members, ...population }: Omit<Partial<Population>, 'members'> & { readonly members: Groups },
  { beside, ...wanted }: Crowd['wanted'] & Pick<Crowd, 'beside'>,
): Crowd => ({
  name,
  population: {
    name,
    outages: [],
    consumers: 50,
    ...population,
    members: Object.entries(members).flatMap(([prefix, those]) => named(prefix, those)),
  },
  ...(beside === undefined ? {} : { beside }),
  wanted,
});

/** Small crowds, each with what shows one of the faults that are planted. */
export const smallCrowds: readonly Crowd[] = [
  small(
    'at 40 banks, beside another caller',
    {
      rate: takes(5),
      line: { perSecond: 4.9 },
      members: { crowd: spread(300, 50, banks(40)), other: beside },
    },
    { beside: ['other'], refused: 20, lastStart: 90, transitions: 3.3, p99: [6] },
  ),
  small(
    'twice as fast as the provider',
    { rate: takes(5), line: { perSecond: 10 }, members: { crowd: spread(600, 20) } },
    { refused: 150, lastStart: 200 },
  ),
  small(
    'waiting for longer than the start window',
    { rate: takes(0.2), line: { perSecond: 0.19 }, members: { crowd: spread(280, 50) } },
    { refused: 12, lastStart: 1_600 },
  ),
  small(
    'without a rate, while one user has another request under way',
    {
      line: {},
      members: {
        crowd: spread(100, 10),
        busy: spread(20, 5, () => ({ trouble: 'answers 429 for the user', calls: ['start'] })),
      },
    },
    { transitions: 2.5, lastStart: 120 },
  ),
  small(
    'two dispatchers, clocks that differ by 3 s, and a bank that is down for a minute',
    {
      rate: takes(5),
      line: { perSecond: 4.9, dispatchers: 2 },
      clocksAhead: 3,
      members: {
        crowd: spread(400, 50),
        down: spread(20, 1, () => ({
          caller: another,
          entity: 'down',
          trouble: 'answers 503 for a minute',
          calls: ['start'],
        })),
      },
    },
    { refused: 60, lastStart: 150, unconfirmed: 14 },
  ),
  small(
    'whose processes and dispatchers end, and lose answers',
    {
      rate: takes(5),
      line: { perSecond: 4.9, deadFrom: 20, deadTo: 50 },
      lossOneIn: 60,
      losesAny: true,
      members: { crowd: spread(300, 50) },
    },
    { refused: 60, lastStart: 700, unconfirmed: 30 },
  ),
  small(
    'that the provider sheds with 503',
    { rate: takes(5, { answers: 503 }), line: {}, members: { crowd: spread(600, 8, banks(20)) } },
    { unconfirmed: 30, lastStart: 500 },
  ),
  small(
    'at a provider that takes one start in 10 s at first',
    {
      rate: takes(5, { perSecond: (seconds) => (seconds < 60 ? 0.1 : 5), burst: 1 }),
      line: {},
      members: { crowd: spread(150, 20) },
    },
    { lastStart: 560 },
  ),
  small(
    'of which some are refused for ten minutes, by a 429 that does not name them',
    {
      rate: takes(5),
      line: { perSecond: 4.9 },
      members: {
        crowd: spread(800, 4),
        refused: spread(20, 0.1, () => ({ trouble: 'answers 429 for ten minutes', calls: ['start'] })),
      },
    },
    { beside: ['crowd'], p99: [10] },
  ),
  small(
    'whose learnt rate an operator forgets after the last request',
    { rate: takes(5), line: {}, clearsRateAt: 30, members: { crowd: spread(400, 20) } },
    { refused: 150, lastStart: 110 },
  ),
  small(
    'at a bank of its own each, beside another caller',
    {
      rate: takes(5),
      line: { perSecond: 4.9 },
      members: { crowd: spread(2_000, 300, banks(2_000)), other: beside },
    },
    { beside: ['other'], p99: [4] },
  ),
  small(
    'of whose releases one in 20 hangs',
    { rate: takes(5), line: { perSecond: 4.9, hangsOneIn: 20 }, members: { crowd: spread(300, 50) } },
    { lastStart: 75 },
  ),
  small(
    'of which the provider leaves without an answer what is too much',
    { rate: takes(5, { answers: 'hangs' }), line: {}, members: { crowd: spread(500, 8, banks(20)) } },
    { unconfirmed: 36, lastStart: 110 },
  ),
  small(
    'of which a third cannot go in line at first, as its index is throttled',
    { rate: takes(5), line: { perSecond: 4.9, throttledOneIn: 3 }, members: { crowd: spread(300, 50) } },
    { refused: 20, lastStart: 200 },
  ),
  small(
    'of one start in ten seconds, of which one is refused by a 429 that names nobody',
    {
      line: {},
      members: {
        crowd: spread(30, 0.1),
        refused: spread(1, 1, () => ({ trouble: 'answers 429 for ten minutes', calls: ['start'] }), 60),
      },
    },
    { lastStart: 680 },
  ),
  small(
    'of which 6 % are refused at any rate',
    { rate: takes(50, { strayOneIn: 17 }), line: {}, members: { crowd: spread(4_000, 20) } },
    { lastStart: 240 },
  ),
  small(
    'of 30 users, each with a limit and a `Retry-After` of its own beside that of all',
    {
      rate: takes(5, { retryAfter: 2, ofUser: takes(0.1, { burst: 1, retryAfter: 30 }) }),
      line: { perSecond: 4.9 },
      members: { crowd: spread(600, 4, (index) => ({ reference: `user-${index % 30}` })) },
    },
    { lastStart: 900, refused: 120 },
  ),
  small(
    'at a limit that changes each minute',
    {
      rate: takes(5, { perSecond: (seconds) => [5, 2, 8, 3][Math.floor(seconds / 60) % 4] ?? 5 }),
      line: {},
      members: { crowd: spread(1_000, 4) },
    },
    { lastStart: 450, refusedShare: 0.07 },
  ),
  small(
    'of 60 callers, of which one has 90 %',
    {
      rate: takes(5),
      line: { perSecond: 4.9 },
      members: {
        crowd: spread(1_080, 50),
        others: spread(120, 1, (index) => ({ caller: `${another}${index % 59}` }), 5),
      },
    },
    { beside: ['others'], refused: 10, lastStart: 270, p99: [3] },
  ),
  small(
    'whose index is 5 s late',
    {
      rate: takes(5),
      line: { perSecond: 4.9 },
      indexLateSeconds: 5,
      members: { crowd: spread(400, 50), other: beside },
    },
    { beside: ['other'], refused: 10, lastStart: 100, p99: [8] },
  ),
  small(
    'of which 20 % of the writes in line are throttled',
    {
      rate: takes(5),
      line: { perSecond: 4.9, throttledWritesOneIn: 5 },
      members: { crowd: spread(400, 50) },
    },
    { refused: 10, lastStart: 100 },
  ),
  small(
    'whose dispatchers end, each one call later than the one before',
    { rate: takes(5), line: { perSecond: 4.9, endsEachStep: true }, members: { crowd: spread(1_500, 8) } },
    { refused: 10, lastStart: 1_700 },
  ),
];

const crowdIn = ({ population }: Service): Crowd | undefined =>
  smallCrowds.find(({ name }) => name === population.name);

const checked =
  (isOne: (missed: string) => boolean) =>
  (service: Service): string | undefined => {
    const crowd = crowdIn(service);
    if (crowd === undefined) return undefined;
    return missedBy(figuresOf(service, crowd.beside), crowd).find(isOne);
  };

/** Undefined for one whose start is not known to be accepted. */
const startedAt = (service: Service, { extractionId }: Member): number | undefined => {
  const { startedAt: at } = service.extractions.get(extractionId) ?? {};
  return at === undefined ? undefined : Date.parse(at);
};

const refusalsOf = ({ provider }: Service, { extractionId }: Member): number =>
  provider.calls.filter(
    ({ kind, of, result }) => kind === 'start' && of === extractionId && result === 'refused',
  ).length;

/** By how much the start of a later request of the same lane and group may be earlier, in seconds. */
const maxOvertaken = 30;

export const crowdInvariants: readonly Invariant[] = [
  {
    name: 'one-dispatcher',
    rule: 'A dispatcher takes the lease of another only once that is over or given back.',
    check: ({ breakerWrites, time, population }) => {
      const leaseIn = (stored: StoredItem | undefined) => parseRateState(stored?.state, time.now).state.lease;
      const clocksMs = 1_000 * (population.clocksAhead ?? 0);
      const taken = breakerWrites.find(({ at, before, after }) => {
        const [was, is] = [leaseIn(before), leaseIn(after)];
        if (was === undefined || is === undefined || was.holder === is.holder) return false;
        return was.until - at > clocksMs;
      });
      return taken === undefined ? undefined : 'A dispatcher took the lease of another.';
    },
  },
  {
    name: 'nobody-is-lost',
    rule: 'Every extraction that waits is started in the end, whatever the provider refuses and whichever process ends.',
    check: checked((missed) => /^(lost|UNCONFIRMED)/.test(missed)),
  },
  {
    name: 'oldest-first',
    rule: `What is requested later is started at most ${maxOvertaken} s before what it overtakes, of the same caller and bank, unless that was refused three times.`,
    check: (service) => {
      // Until the index shows who waits, new starts go by permits.
      if (crowdIn(service) === undefined || service.losses > 0 || service.population.indexLateSeconds)
        return undefined;
      // Each user has a limit of its own, so that others pass who is refused by it.
      const maxRefusals = service.population.rate?.ofUser === undefined ? 2 : 0;
      const lanes = Map.groupBy(service.population.members.filter(isHealthy), (one) =>
        [one.caller, one.priority, groupOf(one)].join(),
      );
      for (const lane of lanes.values()) {
        let earliest = Number.POSITIVE_INFINITY;
        const requestedAt = ({ extractionId }: Member): string =>
          service.extractions.get(extractionId)?.requestedAt ?? '';
        // By the clock that recorded the request.
        for (const one of lane.toSorted((a, b) => (requestedAt(a) < requestedAt(b) ? 1 : -1))) {
          const at = startedAt(service, one);
          if (at === undefined || refusalsOf(service, one) > maxRefusals) continue;
          if (at - earliest > maxOvertaken * 1_000)
            return `${one.extractionId} was overtaken by ${((at - earliest) / 1_000).toFixed(0)} s.`;
          earliest = Math.min(earliest, at);
        }
      }
      return undefined;
    },
  },
  {
    name: 'learnt-from-the-rate',
    rule: 'A provider that refuses one user only teaches no rate.',
    check: (service) => {
      if (crowdIn(service) === undefined || service.population.rate !== undefined) return undefined;
      const { state } = parseRateState(service.breakers.get(rateItem)?.state, service.time.now);
      return state.learnt === undefined ? undefined : 'A rate was learnt.';
    },
  },
  {
    name: 'lanes-share',
    rule: 'A crowd delays the starts of another lane by seconds only.',
    check: checked((missed) => /^p/.test(missed)),
  },
  {
    name: 'rate-is-kept',
    rule: 'The provider refuses few starts, and the line is as long as its rate makes it.',
    check: checked((missed) => /^(refused|transitions|last start)/.test(missed)),
  },
];
