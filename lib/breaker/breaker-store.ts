import * as v from 'valibot';
import { defined } from '../defined.ts';
import { type BreakerName, type BreakerState, closedBreaker } from './breaker-state.ts';

/** An item of the table `Breakers`, as it is stored. Nothing about it is certain (`readBreaker`). */
export type StoredBreaker = { readonly state?: unknown; readonly version?: unknown };

/** The table `Breakers`. Both methods may throw, before or after the write took effect. */
export interface BreakerStore {
  /** Eventually consistent. Undefined if there is no item, which is a closed breaker. */
  read(name: BreakerName): Promise<StoredBreaker | undefined>;
  /** Writes `next` if an item of this version, or none, is still stored. Returns what is stored then. */
  replace(
    name: BreakerName,
    previous: unknown,
    next: { readonly state: BreakerState; readonly version: string },
  ): Promise<StoredBreaker | undefined>;
}

/** What is known of one breaker. */
export type KnownBreaker = {
  readonly state: BreakerState;
  /** Of the item that the state was read from. Undefined if there is none. */
  readonly version?: unknown;
  /** The item is damaged, or of a newer version. What cannot be understood counts for nothing. */
  readonly isDamaged: boolean;
};

const time = v.pipe(v.number(), v.finite());
const seconds = v.pipe(v.number(), v.minValue(0), v.maxValue(3_600));
const held = v.object({ until: time, seconds, failedProbe: v.exactOptional(v.string()) });

const schemas = {
  count: v.pipe(v.number(), v.integer(), v.minValue(0)),
  failing: v.array(v.string()),
  opened: v.object({
    since: time,
    until: time,
    groups: v.optional(v.record(v.string(), held), {}),
    seconds,
    probe: v.exactOptional(v.object({ id: v.string(), until: time })),
    // It is only shown, so one of another form must not let calls pass.
    cause: v.fallback(v.optional(v.pipe(v.string(), v.regex(/^[\w-]{1,40}$/))), undefined),
  }),
  paused: v.object({ since: time, reason: v.string() }),
};

/** The longest pause that a setting allows is 3,600 s, and a lease is shorter. A minute is for clocks that differ. */
const farthestMs = 3_660_000;

/** The field, or undefined if it is of another form. */
const fieldOf = <Name extends keyof typeof schemas>(
  name: Name,
  stored: unknown,
): v.InferOutput<(typeof schemas)[Name]> | undefined => {
  const parsed = v.safeParse(schemas[name], Object(stored)[name]);
  return parsed.success ? parsed.output : undefined;
};

/**
 * The state as it is stored, field by field. A field that is missing, of another form, or further ahead than a pause can be
 * counts for nothing: a damaged item, or that of a newer version, must hold no call. `now` is in milliseconds.
 */
export const parseBreakerState = (
  stored: unknown,
  now: number,
): { readonly state: BreakerState; readonly isDamaged: boolean } => {
  const count = fieldOf('count', stored);
  const failing = fieldOf('failing', stored);
  const parsed = fieldOf('opened', stored);
  const isNear = (end = 0): boolean => end <= now + farthestMs;
  const opened =
    parsed !== undefined &&
    [parsed, parsed.probe, ...Object.values(parsed.groups)].every((pause) => isNear(pause?.until))
      ? defined(parsed)
      : undefined;
  const paused = fieldOf('paused', stored);
  const isMissing = (name: 'opened' | 'paused', field: unknown): boolean =>
    field === undefined && Object(stored)[name] !== undefined;
  const isDamaged =
    count === undefined ||
    failing === undefined ||
    isMissing('opened', opened) ||
    isMissing('paused', paused);
  return { state: { count: count ?? 0, failing: failing ?? [], ...defined({ opened, paused }) }, isDamaged };
};

const knownFrom = (stored: StoredBreaker | undefined, now: number): KnownBreaker =>
  stored === undefined
    ? { state: closedBreaker, isDamaged: false }
    : { ...parseBreakerState(stored.state, now), version: stored.version };

/** Reads one breaker. Throws what the store throws. */
export const readBreaker = async (
  store: Pick<BreakerStore, 'read'>,
  name: BreakerName,
  now: Date,
): Promise<KnownBreaker> => knownFrom(await store.read(name), now.getTime());

/** More lost races in a row than processes that can change a breaker: each change ends most of the others. */
const mostTries = 20;

/**
 * Changes a breaker. `decide` returns the same state to change nothing; it is called again if another process was faster.
 * Returns the state before and after. Throws what the store throws.
 */
export const changeBreaker = async (
  store: BreakerStore,
  name: BreakerName,
  decide: (state: BreakerState) => BreakerState,
  deps: {
    /** What the caller knows already. Otherwise it is read first. */
    readonly known?: KnownBreaker | undefined;
    readonly now: () => Date;
    readonly newVersion: () => string;
  },
): Promise<{ readonly before: BreakerState; readonly after: KnownBreaker }> => {
  let current = deps.known ?? (await readBreaker(store, name, deps.now()));
  for (let left = mostTries; left > 0; left -= 1) {
    const state = decide(current.state);
    if (state === current.state) break;
    const version = deps.newVersion();
    const stored = await store.replace(name, current.version, { state, version });
    // Also if the SDK repeated a write whose answer was lost.
    if (stored?.version === version) {
      return { before: current.state, after: { state, version, isDamaged: false } };
    }
    current = knownFrom(stored, deps.now().getTime());
  }
  return { before: current.state, after: current };
};
