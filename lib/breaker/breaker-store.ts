import { type BreakerName, type BreakerState, closedBreaker } from './breaker-state.ts';
import { parseBreakerState } from './parse-breaker-state.ts';

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
