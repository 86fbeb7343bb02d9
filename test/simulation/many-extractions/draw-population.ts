import { defined } from '#lib/defined.ts';
import type { TerminalStatus } from '#lib/extraction/record.ts';
import type { Random } from '../../support/data/random.ts';

/** How the provider answers a call. Each is one kind of trouble; without any, it answers properly. */
export const troubles = [
  'refuses',
  'answers 500',
  'answers 503',
  'answers 503 for an hour',
  'hangs',
  'slow',
  'answers in 8 s',
  'flaps',
  'fails one call in ten',
  'answers 429',
  'answers 429 for the user',
  'answers 429 for ten minutes',
  'answers 503 for a minute',
  'answers 401',
  'answers 400',
  'ends the process',
  'repeats a task id',
] as const;

export type Trouble = (typeof troubles)[number];

/** A call of the provider, or of the bucket. */
export type CallKind = 'login' | 'task token' | 'start' | 'read' | 'store';

/** One extraction of a population. */
export type Member = {
  readonly extractionId: string;
  /** When it is requested, in seconds from the start. */
  readonly at: number;
  readonly method: 'credentials' | 'consent';
  readonly caller: string;
  readonly entity: string;
  /** For how many seconds its task runs. */
  readonly takes: number;
  /** Whether its deliveries arrive. */
  readonly delivered: boolean;
  /** Its raw credentials. Without them it has persisted ones, which are never marked. */
  readonly raw?: { readonly value: Readonly<Record<string, unknown>>; readonly confirmed?: true };
  /** The final status of its task by credentials; `COMPLETED` by default. */
  readonly ends?: TerminalStatus;
  /** After so many seconds from its request, its record is reconciled besides. */
  readonly reconciledAfter?: number;
  /** After so many seconds, its delivery is replayed. */
  readonly replayedAfter?: number;
  /** With another status than the first. */
  readonly replayedAs?: TerminalStatus;
  /** What is wrong with the calls about this extraction alone. Absent for a healthy one. */
  readonly trouble?: Trouble;
  readonly priority?: 'background';
  readonly reference?: string;
  /** The calls that `trouble` is about. */
  readonly calls?: readonly CallKind[];
};

/** Trouble with all calls of some kinds, for some time. In seconds from the start. */
export type Outage = {
  readonly trouble: Trouble;
  readonly from: number;
  readonly to: number;
  readonly calls: readonly CallKind[];
};

/** How fast the provider takes starts. */
export type ProviderRate = {
  /** At so many seconds from the start. */
  readonly perSecond: (seconds: number) => number;
  /** What it takes at once. */
  readonly burst: number;
  /** `counts-all`: refused calls take from it, too. `last-second`: it counts all calls of the last second. */
  readonly limiter: 'bucket' | 'counts-all' | 'last-second';
  /** How it answers what is over the rate. */
  readonly answers: 429 | 503 | 'hangs';
  /** One call in so many is refused whatever the rate. */
  readonly strayOneIn?: number;
  /** With which its 429 asks to wait, in seconds. */
  readonly retryAfter?: number;
  /** A limit for each user besides, whom a reference names. */
  readonly ofUser?: ProviderRate;
};

/** Extractions that share one deployment and one provider. */
export type Population = {
  /** Of a crowd. */
  readonly name?: string;
  readonly members: readonly Member[];
  readonly outages: readonly Outage[];
  /** How many messages of the reconcile queue are consumed at once. */
  readonly consumers: number;
  /** One call of a table in so many loses its answer, or its process: of broken members, and of all in an outage. */
  readonly lossOneIn?: number;
  /** After so many seconds, an operator forgets all refusals. */
  readonly forgetsAt?: number;
  /** After so many seconds, an operator erases the extraction whose credentials were refused last. */
  readonly erasesAt?: number;
  /** So many seconds the clock of a process is ahead in half of its invocations. */
  readonly clocksAhead?: number;
  /** For how many days refused credentials are marked. 7 by default. */
  readonly keptDays?: number;
  /** After so many seconds, a caller asks to erase what has a reference. */
  readonly erasures?: readonly {
    readonly at: number;
    readonly askedBy: string;
    readonly reference: string;
  }[];
  /** By so many seconds more than usual, the indexes of the line and of references follow their tables. */
  readonly indexLateSeconds?: number;
  /** The provider takes starts at this rate only. */
  readonly rate?: ProviderRate;
  /** After so many seconds, an operator forgets the rate that was learnt. */
  readonly clearsRateAt?: number;
  /** There is a line for starts, and its dispatcher. `perSecond`: the setting. */
  readonly line?: {
    readonly perSecond?: number;
    /** The dispatcher ends at the first time, and none runs until the second. In seconds. */
    readonly deadFrom?: number;
    readonly deadTo?: number;
    /** So many are invoked at the same time. 1 by default. */
    readonly dispatchers?: number;
    /** One start in so many cannot go in line, as each try of its state InLine is throttled. */
    readonly throttledOneIn?: number;
    /** One write of the table in so many is throttled. */
    readonly throttledWritesOneIn?: number;
    /** The first dispatcher ends after its first call of AWS, the next one after its second, and so on to the fortieth. */
    readonly endsEachStep?: true;
    /** One release in so many hangs for five seconds. */
    readonly hangsOneIn?: number;
  };
  /** Every call of a table may be lost (`lossOneIn`), not only those about broken members. */
  readonly losesAny?: true;
};

/**
 * Whether a call of the line takes time, and may be lost. In those of one login nobody waits, and what a few of millions of their seeds show
 * would have to be searched again.
 */
export const hasLine = ({ keptDays }: Population): boolean => keptDays === undefined;

/** Whether a breaker sees how such a call ends. */
export const isOfStart = (call: CallKind): boolean => call !== 'read' && call !== 'store';

export const isHealthy = ({ trouble }: Member): boolean => trouble === undefined;

/** All consents of a population are for one product. Its members by credentials have entities. */
export const product = 'movement';

/** The group of its caller that its start belongs to. */
export const groupOf = ({ method, entity }: Member): string => (method === 'consent' ? product : entity);

/**
 * The healthy ones whose caller has no broken starts in the same group. They share nothing with the broken ones, so they must end
 * as they would end alone. Reads have no groups.
 */
export const apartIn = ({ members }: Population): readonly Member[] => {
  const nameOf = (one: Member): string => `${one.caller} ${groupOf(one)}`;
  const failing = new Set(members.filter(({ calls }) => calls?.some(isOfStart) === true).map(nameOf));
  return members.filter((one) => isHealthy(one) && !failing.has(nameOf(one)));
};

export const member = (index: number, at: number, fields: Partial<Member> = {}): Member => ({
  extractionId: `extraction-${index}`,
  at,
  method: 'credentials',
  caller: 'arn:aws:iam::111122223333:role/Caller',
  entity: 'bank',
  takes: 20,
  delivered: true,
  ...fields,
});

export const failing = (trouble: Trouble, calls: readonly CallKind[] = ['start']): Partial<Member> => ({
  trouble,
  calls,
});

/** What can be wrong with one extraction, by the calls that it is about. */
const brokenness: readonly (Required<Pick<Member, 'trouble' | 'calls'>> & {
  readonly method?: Member['method'];
})[] = [
  { trouble: 'answers 500', calls: ['read'] },
  { trouble: 'answers 503 for an hour', calls: ['read'] },
  { trouble: 'hangs', calls: ['read'] },
  { trouble: 'ends the process', calls: ['read'] },
  { trouble: 'answers 429', calls: ['read'] },
  { trouble: 'answers 401', calls: ['read'] },
  { trouble: 'answers 500', calls: ['start'] },
  { trouble: 'answers 503 for an hour', calls: ['start'] },
  { trouble: 'hangs', calls: ['start'] },
  { trouble: 'slow', calls: ['start', 'read'] },
  { trouble: 'slow', calls: ['read'] },
  { trouble: 'flaps', calls: ['start'] },
  { trouble: 'flaps', calls: ['read'] },
  { trouble: 'fails one call in ten', calls: ['start'] },
  { trouble: 'answers 429', calls: ['start'] },
  { trouble: 'answers 401', calls: ['start'] },
  { trouble: 'answers 400', calls: ['start'] },
  { trouble: 'repeats a task id', calls: ['start'] },
  { trouble: 'answers 500', calls: ['task token'], method: 'consent' },
];

/** The troubles of an outage. */
export const outageTroubles = [
  'refuses',
  'answers 503',
  'hangs',
  'slow',
  'flaps',
  'fails one call in ten',
] as const satisfies readonly Trouble[];

/** A random outage of the whole provider. All extractions are healthy, but for some that it refuses with a 400. */
export const drawOutage = (random: Random): Population => {
  const from = 20 + random.below(20);
  const to = from + random.pick([60, 120, 300]);
  const extractions = random.pick([30, 50]);
  // Requests go on after the outage, so that there is always somebody to probe.
  const requestedUntil = to + 60;
  // How many are requested at the same time.
  const together = random.pick([1, 10]);
  const refusedOneIn = random.pick([4, 1_000]);
  const banks = random.pick([1, 3, 12]);
  const members = Array.from({ length: extractions }, (_, index) =>
    member(index, (requestedUntil * (index - (index % together))) / extractions, {
      method: random.pick(['credentials', 'credentials', 'consent']),
      entity: `bank-${random.below(banks)}`,
      ...(random.below(refusedOneIn) === 0 ? { trouble: 'answers 400', calls: ['start'] } : {}),
    }),
  );
  const calls = random.pick<readonly CallKind[]>([
    ['start'],
    ['start', 'read'],
    ['login', 'task token', 'start'],
  ]);
  const lossOneIn = random.pick([undefined, undefined, 100, 30]);
  return {
    members,
    outages: [{ trouble: random.pick(outageTroubles), from, to, calls }],
    consumers: 50,
    ...defined({ lossOneIn }),
  };
};

export const callerNamed = (name: string): string => `arn:aws:iam::111122223333:role/${name}`;

/**
 * A random population: one to thirty broken groups of one to ten callers, in which a share of the extractions fails, beside
 * healthy groups of the same callers and of another. Any of them may be requested at once, or over hours.
 */
export const drawPopulation = (random: Random): Population => {
  const callers = random.pick([1, 1, 2, 10]);
  const broken = random.pick([1, 1, 2, 4, 5, 6, 10, 30]);
  const share = random.pick([5, 20, 50, 71, 90, 100]);
  const ills = [random.pick(brokenness), random.pick(brokenness)];
  const size = random.pick([2, 10, 30, 60, 150]);
  const within = random.pick([1, 60, 900, 1_800, 7_200]);
  const healthyOneIn = random.pick([2, 5, 20]);
  // One caller requests all that are broken at once.
  const flood = random.below(4) === 0 ? random.below(within) : undefined;
  const members = Array.from({ length: size }, (_, index): Member => {
    const isApart = index === 1 || random.below(healthyOneIn) === 0;
    const isBroken = !isApart && (index === 0 || random.below(100) < share);
    const group = random.below(broken);
    const ill = ills[group % ills.length] as (typeof ills)[number];
    const caller = isApart && random.below(3) === 0 ? 'Other' : `Caller${random.below(callers)}`;
    const at = isBroken && flood !== undefined ? flood : random.below(within);
    return member(index, index === 1 ? at + 60 : at, {
      method: (isBroken ? ill.method : undefined) ?? random.pick(['credentials', 'consent']),
      caller: callerNamed(caller),
      entity: isApart ? `bank-${random.below(3)}` : `failing-bank-${group}`,
      takes: random.pick([2, 20, 200]),
      delivered: random.below(4) > 0,
      ...(isBroken ? { trouble: ill.trouble, calls: ill.calls } : {}),
    });
  });
  const lossOneIn = random.pick([undefined, 30]);
  const consumers = random.pick([2, 10, 50]);
  return { members, outages: [], consumers, ...defined({ lossOneIn }) };
};
