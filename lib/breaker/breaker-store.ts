import type { BreakerName, BreakerState } from './breaker-state.ts';

/** A state with the version under which it is stored. Without a version, none is stored yet. */
export type StoredBreaker = { readonly state: BreakerState; readonly version?: string };

/** The table `Breakers`. Both methods may throw, before or after the write took effect. */
export interface BreakerStore {
  /** Eventually consistent. A breaker that is not stored is closed. */
  read(name: BreakerName): Promise<StoredBreaker>;
  /** Writes `next` if `previous` is still stored. Returns what is stored then. */
  replace(name: BreakerName, previous: StoredBreaker, next: Required<StoredBreaker>): Promise<StoredBreaker>;
}

/** More lost races in a row than processes that can change a breaker: each change ends most of the others. */
const mostTries = 20;

/**
 * Changes a breaker. `decide` returns the same state to change nothing; it is called again if another process was faster.
 * Returns the state before and after. Throws what the store throws.
 */
export const changeBreaker = async (
  store: BreakerStore,
  name: BreakerName,
  known: StoredBreaker | undefined,
  decide: (state: BreakerState) => BreakerState,
  newVersion: () => string,
): Promise<{ readonly before: BreakerState; readonly after: StoredBreaker }> => {
  let current = known ?? (await store.read(name));
  for (let left = mostTries; left > 0; left -= 1) {
    const state = decide(current.state);
    if (state === current.state) break;
    const version = newVersion();
    const stored = await store.replace(name, current, { state, version });
    // Also if the SDK repeated a write whose answer was lost.
    if (stored.version === version) return { before: current.state, after: stored };
    current = stored;
  }
  return { before: current.state, after: current };
};
