import { defined } from '../defined.ts';

/** An item of the table `Breakers` as stored. Its content is not validated. */
export type StoredItem = { readonly state?: unknown; readonly version?: unknown };

/**
 * The table `Breakers`: items that all processes share, each replaced by compare-and-set. There is one for each caller in trouble, named by
 * its ARN, one for what operators have set, and one for the rate. May throw.
 */
export interface SharedItemStore {
  /** Undefined if there is no item. An eventually consistent read may miss the last writes. */
  read(name: string, consistency: 'eventually' | 'strongly'): Promise<StoredItem | undefined>;
  /** Writes `next` if the stored version is still `previous`, or there still is no item. Returns what is stored then. */
  replace(
    name: string,
    previous: unknown,
    next: { readonly state: object; readonly version: string },
  ): Promise<StoredItem | undefined>;
}

export type Known<State> = {
  readonly state: State;
  /** Undefined if there is no item. */
  readonly version?: unknown;
  /** Whether a part of the item is damaged or of a newer version. That part is ignored. */
  readonly isDamaged: boolean;
};

/** Parses a stored state, or none. `now` is in milliseconds. */
export type ParseState<State> = (
  stored: unknown,
  now: number,
) => { readonly state: State; readonly isDamaged: boolean };

const knownFrom = <State>(
  stored: StoredItem | undefined,
  parse: ParseState<State>,
  now: Date,
): Known<State> => ({
  ...parse(stored?.state, now.getTime()),
  ...defined({ version: stored?.version }),
});

/** Reads an item, eventually consistent. Throws what the store throws. */
export const readItem = async <State>(
  store: Pick<SharedItemStore, 'read'>,
  name: string,
  parse: ParseState<State>,
  now: Date,
): Promise<Known<State>> => knownFrom(await store.read(name, 'eventually'), parse, now);

/** Each change makes most other processes lose one race. So this is more than the processes that can change an item at one time. */
const maxTries = 20;

/**
 * Changes an item. `decide` returns the same state if nothing is to change. If another process was faster, `decide` is called again.
 * Returns the state before and after. Throws what the store throws.
 */
export const changeItem = async <State extends object>(
  store: SharedItemStore,
  name: string,
  decide: (state: State) => State,
  deps: {
    readonly parse: ParseState<State>;
    readonly format?: (state: State) => object;
    /** The last known state, for an item that hardly any other process writes. Without it, the item is read first. */
    readonly known?: Known<State> | undefined;
    readonly now: () => Date;
    readonly newVersion: () => string;
  },
): Promise<{ readonly before: State; readonly after: Known<State> }> => {
  const { format = (state: State): object => state } = deps;
  // The read costs one read unit. A write that loses its race because the state was old costs a write unit for each KB of the item.
  let current = deps.known ?? knownFrom(await store.read(name, 'strongly'), deps.parse, deps.now());
  for (let left = maxTries; left > 0; left -= 1) {
    const state = decide(current.state);
    if (state === current.state) break;
    const version = deps.newVersion();
    const stored = await store.replace(name, current.version, { state: format(state), version });
    // This also holds if the SDK repeated a write whose answer was lost.
    if (stored?.version === version) {
      return { before: current.state, after: { state, version, isDamaged: false } };
    }
    current = knownFrom(stored, deps.parse, deps.now());
  }
  return { before: current.state, after: current };
};
