import * as v from 'valibot';
import { defined } from '../defined.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { BreakerState } from './breaker-state.ts';

/** An item of the table `Breakers`, as it is stored. Nothing about it is certain. */
export type StoredBreaker = { readonly state?: unknown; readonly version?: unknown };

/** The table `Breakers`: an item for each caller with trouble, by its ARN, and one of the operator's pauses. May throw. */
export interface BreakerStore {
  /** Undefined if there is no item. An eventually consistent read may not know the last writes. */
  read(name: string, consistency: 'eventually' | 'strongly'): Promise<StoredBreaker | undefined>;
  /** Writes `next` if an item of this version, or none, is still stored. Returns what is stored then. */
  replace(
    name: string,
    previous: unknown,
    next: { readonly state: object; readonly version: string },
  ): Promise<StoredBreaker | undefined>;
}

/** What is known of an item. */
export type Known<State> = {
  readonly state: State;
  /** Undefined if there is no item. */
  readonly version?: unknown;
  /** A part of it is damaged, or of a newer version. It counts for nothing. */
  readonly isDamaged: boolean;
};

/** Interprets a stored state, or none. `now` is in milliseconds. */
type ParseState<State> = (
  stored: unknown,
  now: number,
) => { readonly state: State; readonly isDamaged: boolean };

/** The longest pause that a setting allows is 3,600 s, and a turn is shorter. A minute is for clocks that differ. */
const maxAheadMs = 3_660_000;

const time = v.pipe(v.number(), v.finite());
// It is only shown, so one of another form must not let starts pass.
const cause = v.fallback(v.optional(v.pipe(v.string(), v.regex(/^[\w-]{1,40}$/))), undefined);

const schemasAt = (now: number) => {
  const near = v.pipe(time, v.maxValue(now + maxAheadMs));
  const turn = v.object({ at: near, holder: v.exactOptional(v.string()) });
  const count = v.pipe(time, v.minValue(0));
  return {
    opened: v.object({ since: time, failing: turn, others: turn, taken: count, cause }),
    group: v.union([
      v.object({
        name: v.string(),
        failed: v.array(v.tuple([v.string(), time])),
        acceptedAt: v.exactOptional(time),
        passesUntil: v.exactOptional(near),
        opened: v.exactOptional(v.object({ since: time, pause: count, turn, cause })),
      }),
      v.pipe(
        v.tupleWithRest([v.string(), v.nullable(time)], v.tuple([v.string(), time])),
        v.transform(([name, acceptedAt, ...failed]) => ({
          name,
          failed,
          ...(acceptedAt === null ? {} : { acceptedAt }),
        })),
      ),
    ]),
  };
};

/**
 * The breakers of a caller, part by part. A part that is of another form, or further ahead than a pause can be, counts for
 * nothing: a damaged item, or an item of a newer version, must hold no start.
 */
export const parseBreakerState: ParseState<BreakerState> = (stored, now) => {
  const schemas = schemasAt(now);
  let isDamaged = false;
  const partOf = <Part>(schema: v.GenericSchema<unknown, Part>, part: unknown): Part | undefined => {
    const parsed = v.safeParse(schema, part);
    isDamaged ||= !parsed.success;
    return parsed.success ? parsed.output : undefined;
  };
  const { acceptedAt, groups = stored === undefined ? [] : undefined, opened } = Object(stored);
  const state = defined({
    acceptedAt: partOf(v.optional(time), acceptedAt),
    groups: (partOf(v.array(v.unknown()), groups) ?? []).flatMap((one) => partOf(schemas.group, one) ?? []),
    opened: partOf(v.optional(schemas.opened), opened),
  });
  return { state, isDamaged };
};

/**
 * The breakers of a caller, as they are stored. Of most groups nothing is known but their last accepted start and what failed since. Each is a
 * list then, which is shorter than an object with names, because each KB of the item costs a write unit.
 */
export const formatBreakerState = (state: BreakerState): object => ({
  ...state,
  groups: state.groups.map((group) => {
    const { name, failed, acceptedAt, ...others } = group;
    return Object.keys(others).length === 0 ? [name, acceptedAt ?? null, ...failed] : group;
  }),
});

const knownFrom = <State>(
  stored: StoredBreaker | undefined,
  parse: ParseState<State>,
  now: Date,
): Known<State> => ({
  ...parse(stored?.state, now.getTime()),
  ...defined({ version: stored?.version }),
});

/** Reads an item, eventually consistent. Throws what the store throws. */
export const readItem = async <State>(
  store: Pick<BreakerStore, 'read'>,
  name: string,
  parse: ParseState<State>,
  now: Date,
): Promise<Known<State>> => knownFrom(await store.read(name, 'eventually'), parse, now);

/** More lost races in a row than processes that can change an item: each change ends most of the others. */
const maxTries = 20;

/**
 * Changes an item. `decide` returns the same state to change nothing; it is called again if another process was faster.
 * Returns the state before and after. Throws what the store throws.
 */
export const changeItem = async <State extends object>(
  store: BreakerStore,
  name: string,
  decide: (state: State) => State,
  deps: {
    readonly parse: ParseState<State>;
    readonly format?: (state: State) => object;
    /** What is known already, if hardly anybody else writes the item. Otherwise it is read first. */
    readonly known?: Known<State> | undefined;
    readonly now: () => Date;
    readonly newVersion: () => string;
  },
): Promise<{ readonly before: State; readonly after: Known<State> }> => {
  const { format = (state: State): object => state } = deps;
  // It costs a read unit. A write that loses its race, as after an older read, costs a write unit for each KB of the item.
  let current = deps.known ?? knownFrom(await store.read(name, 'strongly'), deps.parse, deps.now());
  for (let left = maxTries; left > 0; left -= 1) {
    const state = decide(current.state);
    if (state === current.state) break;
    const version = deps.newVersion();
    const stored = await store.replace(name, current.version, { state: format(state), version });
    // Also if the SDK repeated a write whose answer was lost.
    if (stored?.version === version) {
      return { before: current.state, after: { state, version, isDamaged: false } };
    }
    current = knownFrom(stored, deps.parse, deps.now());
  }
  return { before: current.state, after: current };
};

/** The calls that an operator can pause: those that start tasks, and those that read them. */
export const pausableCalls = ['starts', 'reads'] as const;

export type PausableCalls = (typeof pausableCalls)[number];

/** Who paused calls, when and why. `since` is in milliseconds of the epoch. */
export type Pause = { readonly since: number; readonly reason: string; readonly by?: string };

/** The starts a second that an operator has set, which replace the setting. */
export type RateByHand = Pause & { readonly perSecond: number };

/** What an operator has set. It lasts until an operator changes it. */
export type Pauses = { readonly [Calls in PausableCalls]?: Pause } & { readonly rate?: RateByHand };

/** The item of the pauses in the table `Breakers`. The names of callers' items are ARNs. */
export const pausesItem = 'operator';

const pauseEntries = {
  since: v.pipe(v.number(), v.finite()),
  reason: v.string(),
  by: v.exactOptional(v.string()),
};
const schemas = {
  starts: v.optional(v.object(pauseEntries)),
  reads: v.optional(v.object(pauseEntries)),
  rate: v.optional(v.object({ ...pauseEntries, perSecond: v.pipe(v.number(), v.gtValue(0), v.finite()) })),
};

/** A damaged pause, or one of a newer version, pauses nothing. A damaged rate limits nothing. */
export const parsePauses: ParseState<Pauses> = (stored) => {
  const parts = Object(stored);
  const [starts, reads] = pausableCalls.map((calls) => v.safeParse(schemas[calls], parts[calls]));
  const rate = v.safeParse(schemas.rate, parts.rate);
  return {
    state: defined({
      starts: starts?.success ? starts.output : undefined,
      reads: reads?.success ? reads.output : undefined,
      rate: rate.success ? rate.output : undefined,
    }),
    isDamaged: starts?.success !== true || reads?.success !== true || !rate.success,
  };
};

/** For how long a process trusts what it read. */
const cacheMs = 5_000;

/**
 * What an operator has set, at most 5 s ago: whether these calls are paused, and the rate of starts. If that cannot be read, no call is
 * held.
 */
export const operatorSettingsOf = ({
  store,
  now,
  telemetry,
}: Readonly<{ store: Pick<BreakerStore, 'read'>; now: () => Date; telemetry: Telemetry }>): {
  readonly isPaused: (calls: PausableCalls) => Promise<boolean>;
  readonly ratePerSecond: () => Promise<number | undefined>;
} => {
  let cached: { readonly pauses: Pauses; readonly at: number } | undefined;
  const current = async (): Promise<Pauses> => {
    const time = now();
    if (cached === undefined || time.getTime() - cached.at >= cacheMs) {
      let pauses: Pauses = {};
      try {
        const known = await readItem(store, pausesItem, parsePauses, time);
        pauses = known.state;
        if (known.isDamaged) telemetry.count('BreakerUnavailable');
      } catch (error) {
        telemetry.count('BreakerUnavailable');
        telemetry.failure('The pauses are not available; the call is made.', error);
      }
      cached = { pauses, at: time.getTime() };
    }
    return cached.pauses;
  };
  return {
    isPaused: async (calls) => (await current())[calls] !== undefined,
    ratePerSecond: async () => (await current()).rate?.perSecond,
  };
};
