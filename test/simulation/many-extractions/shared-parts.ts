import type { Random } from '../../support/data/random.ts';
import { named, crowd as requests } from './crowds.ts';
import {
  type CallKind,
  callerNamed,
  failing,
  type Member,
  type Population,
  type Trouble,
} from './draw-population.ts';
import type { Invariant } from './invariants.ts';
import { resultsOf } from './provider.ts';
import type { Service } from './service.ts';
import { settings, timings } from './settings.ts';

const consent = { method: 'consent' } as const;

const troubles: readonly Trouble[] = [
  'hangs',
  'slow',
  'flaps',
  'ends the process',
  'answers 500',
  'answers 401',
  'answers 429',
  'answers 503 for an hour',
];

/** `at`: when each is requested. */
type Way = (random: Random) => (at: number) => Partial<Member>;

const failingAt =
  (call: CallKind, fields: Partial<Member> = {}): Way =>
  (random) => {
    const trouble = failing(random.pick(troubles), [call]);
    return () => ({ ...fields, ...trouble });
  };

/** What a neighbour does to what all share beside the rate, the line and the breakers (neighbours.ts). */
const ways: readonly Way[] = [
  failingAt('read', consent),
  () => () => ({ ...consent, ...failing('hangs', ['store']) }),
  failingAt('start'),
  failingAt('login'),
  failingAt('task token', consent),
  // A message about each at the same moment.
  () => (at) => ({ reconciledAfter: 60 - at }),
  () => () => ({ replayedAfter: 1, replayedAs: 'FAILED' }),
  () => () => ({ reference: 'neighbour' }),
  () => () => consent,
  () => () => ({}),
];

const askedAt = 300;

/** Of one caller nothing is known but that he is hostile. Another has an extraction in two seconds, by both methods in turn, and erases some. */
export const drawSharing = (random: Random): Population => {
  const fieldsOf = random.pick(ways)(random);
  const size = random.pick([100, 300, 600]);
  const perSecond = random.pick([5, 20, settings.apiRateLimit]);
  const hostile = requests(size, { perSecond, takes: 20, caller: callerNamed('Neighbour') });
  // What anybody sends without a key takes the throttle of the webhook's route, too.
  const delivered = random.below(4) > 0;
  const calm = requests(40, { perSecond: 0.5, takes: 20, from: 20, caller: callerNamed('Calm'), delivered });
  return {
    name: 'sharing',
    outages: [],
    line: {},
    consumers: random.pick([10, settings.reconcileConcurrency]),
    indexLateSeconds: random.pick([0, 5]),
    members: [
      ...named(
        'neighbour',
        hostile.map((one) => ({ ...one, ...fieldsOf(one.at) })),
      ),
      ...named(
        'calm',
        calm.map((one, index) => ({
          ...one,
          ...(index % 2 === 0 ? {} : consent),
          ...(index % 5 === 0 ? { reference: 'calm' } : {}),
        })),
      ),
    ],
    erasures: [
      ...[40, 30, 20, 10].map((before) => ({
        at: askedAt - before,
        askedBy: callerNamed('Neighbour'),
        reference: 'neighbour',
      })),
      { at: askedAt, askedBy: callerNamed('Calm'), reference: 'calm' },
    ],
  };
};

const calmIn = ({ population }: Service): readonly Member[] =>
  population.members.filter(({ extractionId }) => extractionId.startsWith('calm'));

const erasedAtOf = ({ erasing }: Service, { extractionId }: Member): string | undefined =>
  [...erasing.tombstones.values()].find((one) => one.extractionId === extractionId)?.erasedAt;

export const calmIsOver = (service: Service): boolean =>
  calmIn(service).every((one) => {
    if (one.reference !== undefined) return erasedAtOf(service, one) !== undefined;
    const record = service.extractions.get(one.extractionId);
    return record !== undefined && record.dueShard === undefined;
  });

const seconds = (from = '', to = ''): number => (Date.parse(to) - Date.parse(from)) / 1_000;

/** The records of the calm caller that nobody erases, which are started. */
const keptIn = (service: Service) =>
  calmIn(service)
    .filter(({ reference }) => reference === undefined)
    .flatMap((one) => {
      const record = service.extractions.get(one.extractionId);
      return record === undefined ? [] : [{ one, record }];
    });

const maxStartSeconds = 5;
/** Of which starts fail, neighbours.ts has how long others wait in line. */
const startsFail = ({ members }: Population): boolean =>
  members.some(({ calls }) => calls?.includes('start') === true);
/** The queue is fair, but each of the consumers may hold a call of 5 s of another caller, at each of some four polls of a consent. */
const maxResultsSeconds = 30;
/** The execution waits for a delivery, and then polls. */
const undeliveredSeconds = settings.webhookWaitSeconds + settings.pollEverySeconds;
/** Where the queue is fair. What has just closed waits until a process that has read it before has ended. */
const maxErasedSeconds = 3;
const freshSeconds = timings.reconcileTimeout + 10;
/** Where nothing is delivered, it is still open, and is tried again after pauses that grow. */
const openSeconds = undeliveredSeconds + 300;
/**
 * A login, a Task Token or a start that hangs is slow after 5 s, and others are held some two seconds later. One that is slow and succeeds
 * takes up to 15 s, 10.5 s on average (provider.ts), and lets others go again.
 */
const maxAtOnce = ({ members }: Population): number =>
  settings.apiRateLimit *
  (members.some(({ trouble }) => trouble === 'slow') ? 11 : settings.breakerSlowCallSeconds + 2);

/** The first of the calm caller's of which something is later than that. */
const later = (
  service: Service,
  max: number,
  secondsOf: (one: ReturnType<typeof keptIn>[number]) => number,
): string | undefined => {
  const late = keptIn(service).find((one) => !(secondsOf(one) <= max));
  return late && `${late.one.extractionId} takes ${secondsOf(late).toFixed(1)} s, and not ${max} s.`;
};

/** Whatever the neighbour requests and provokes. */
export const sharedInvariants: readonly Invariant[] = [
  {
    name: 'starts-delay-little',
    rule: `Whatever logins, Task Tokens and reads of another caller fail, a start is made within ${maxStartSeconds} s.`,
    check: (service) =>
      startsFail(service.population)
        ? undefined
        : later(service, maxStartSeconds, ({ record }) => seconds(record.requestedAt, record.startedAt)),
  },
  {
    name: 'shared-loses-nothing',
    rule: 'Whatever another caller requests and provokes, each extraction ends as its task, with its own results.',
    check: (service) => {
      const wrong = keptIn(service).find(
        ({ one, record: { status, results } }) =>
          status !== 'COMPLETED' || results?.sha256 !== resultsOf(one),
      );
      return wrong && `${wrong.one.extractionId} is ${wrong.record.status}.`;
    },
  },
  {
    name: 'queues-delay-little',
    rule: `The results are stored within ${maxResultsSeconds} s of the end of the task. Where no delivery arrives, ${undeliveredSeconds} s later.`,
    check: (service) =>
      later(service, maxResultsSeconds, ({ one, record: { startedAt, collectedAt } }) => {
        const found = one.delivered || one.method === 'consent' ? 0 : undeliveredSeconds;
        return seconds(startedAt, collectedAt) - one.takes - found;
      }),
  },
  {
    name: 'erasures-delay-little',
    rule: `However much others erase, what has been closed for ${freshSeconds} s is erased within ${maxErasedSeconds} s, unless starts of others fail.`,
    check: (service) => {
      const { population, startedAt } = service;
      if (startsFail(population)) return undefined;
      const asked = new Date(startedAt + 1_000 * askedAt).toISOString();
      const open = calmIn(service).every(({ delivered }) => delivered) ? 0 : openSeconds;
      const lastAt = Math.max(...calmIn(service).map(({ at, takes }) => at + takes));
      const closedBy = lastAt + maxStartSeconds + maxResultsSeconds;
      const max = maxErasedSeconds + Math.max(0, closedBy + freshSeconds - askedAt) + open;
      const late = calmIn(service).find(
        (one) => one.reference !== undefined && !(seconds(asked, erasedAtOf(service, one)) <= max),
      );
      return late && `${late.extractionId} is erased at ${erasedAtOf(service, late)}, asked for at ${asked}.`;
    },
  },
  {
    name: 'starts-leave-room',
    rule: `At the throttle of ${settings.apiRateLimit} requests a second, start-task runs at once as often as it is requested in 7 s at most, or in 11 s if calls take up to 15 s and succeed.`,
    check: ({ maxStartsAtOnce, population }) =>
      maxStartsAtOnce <= maxAtOnce(population) ? undefined : `${maxStartsAtOnce} invocations ran at once.`,
  },
];
