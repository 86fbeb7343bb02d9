import { defined } from '../defined.ts';

/** An item of the table `Breakers`, as it is stored. Nothing about it is certain. */
export type StoredItem = { readonly state?: unknown; readonly version?: unknown };

/**
 * Items that all processes share, each replaced by compare-and-set: the table `Breakers`. It has one for each caller with trouble, by its ARN, one
 * of what operators have set, and one of the rate. May throw.
 */
export interface SharedItemStore {
  /** Undefined if there is no item. An eventually consistent read may not know the last writes. */
  read(name: string, consistency: 'eventually' | 'strongly'): Promise<StoredItem | undefined>;
  /** Writes `next` if an item of this version, or none, is still stored. Returns what is stored then. */
  replace(
    name: string,
    previous: unknown,
    next: { readonly state: object; readonly version: string },
  ): Promise<StoredItem | undefined>;
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

/** More lost races in a row than processes that can change an item: each change ends most of the others. */
const maxTries = 20;

/**
 * Changes an item. `decide` returns the same state to change nothing; it is called again if another process was faster.
 * Returns the state before and after. Throws what the store throws.
 */
export const changeItem = async <State extends object>(
  store: SharedItemStore,
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
