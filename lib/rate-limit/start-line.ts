import type { Calls, CountedCall } from './call-counts.ts';

/**
 * The line: starts that wait for the provider's rate, for a breaker or for an operator (design, "Starts at the provider's rate").
 * start-task writes an item of the table `StartLine`. The state InLine adds its callback token, which puts it into the sparse index `line`
 * until it is released.
 */

/** The priority that a request chooses. `background`: no person waits for its outcome. */
export type Priority = 'interactive' | 'background';

/** What decides the place of a start in the line. */
export type Place = {
  readonly caller: string;
  readonly priority: Priority;
  /** Its entity or product, as for the breaker. */
  readonly group: string;
  /** When it was requested. After a refusal by the provider, when it may be tried again (`placeAt`). */
  readonly at: string;
  readonly extractionId: string;
};

/** An item, as start-task writes it. It enters the index once InLine has added `line` and `callbackToken`. */
export type LineEntry = {
  readonly extractionId: string;
  /** The request of the record that the execution was started for. */
  readonly requestId: string;
  /** The `callbackAttempt`. It grows with each try of the execution to start. */
  readonly attempt: number;
  readonly slot: string;
  /** When the current wait began. Absent after an attempt that could go, because from then on the start window counts again. */
  readonly waitingSince?: string;
  /** The milliseconds of all earlier waits. */
  readonly waitedMs: number;
  /** How often it was refused by a 429 that names neither quota nor user. Absent: never. */
  readonly refusals?: number;
  /** When TTL removes it, in epoch seconds. */
  readonly expiresAt: number;
};

/** An item as stored. It has a callback token while its execution waits in the state InLine, and from then on the time of its release. */
export type StoredEntry = LineEntry & { readonly callbackToken?: string; readonly releasedAt?: string };

export type InLine = {
  readonly extractionId: string;
  readonly requestId: string;
  readonly slot: string;
  readonly callbackToken: string;
};

/** The private table `StartLine`. Every method may throw, also after it took effect. */
export interface StartLineStore {
  /**
   * Writes the whole item, without `line`, `callbackToken` and `releasedAt`. If the item is already of this attempt or a later one, it stays,
   * because a delayed write must not remove from the index what InLine has put there.
   */
  write(entry: LineEntry): Promise<void>;
  /** Strongly consistent. */
  find(extractionId: string): Promise<StoredEntry | undefined>;
  /** Removes the item, if it belongs to this request. */
  remove(extractionId: string, requestId: string): Promise<void>;
  /** Removes the item, if its request and callback token are still as found. Returns whether it was removed. */
  withdraw(found: StoredEntry): Promise<boolean>;
  /**
   * Returns the entries of the index after a slot, in the order of slots. Eventually consistent: it may still show a start that was just
   * released.
   */
  next(after: string, limit: number): Promise<readonly InLine[]>;
  /** Removes the item from the index, and stores the time of its release, unless it has another callback token by now. */
  leave(released: InLine, releasedAt: string): Promise<void>;
  /** Counts a call in this second of the epoch. */
  count(second: number, call: CountedCall): Promise<void>;
  /** Returns the calls from one second to another, inclusive. A second without calls is left out. */
  counts(from: number, to: number): Promise<ReadonlyMap<number, Calls>>;
}

/** The key of the item that counts the calls of a second. No extraction has such an id. */
export const countsKey = (second: number | ''): string => `calls/${second}`;

/** How long a count is kept, in seconds. */
export const countsKeptSeconds = 3_600;

const separator = '#';

/** Escapes the separator: an entity may contain `#`, although no ARN does. */
const escaped = (part: string): string => part.replaceAll('%', '%25').replaceAll(separator, '%23');
const unescaped = (part: string): string => part.replaceAll('%23', separator).replaceAll('%25', '%');

/** A *lane* is what one caller has in line with one priority. */
export const laneOf = ({ caller, priority }: Pick<Place, 'caller' | 'priority'>): string =>
  [escaped(caller), priority].join(separator);

/** A slot after every slot of this lane, and before the next lane: `$` follows `#`. */
export const endOfLane = (lane: string): string => `${lane}$`;

/** The prefix of all slots of one group in one lane. */
export const prefixOf = (place: Pick<Place, 'caller' | 'priority' | 'group'>): string =>
  `${laneOf(place)}${separator}${escaped(place.group)}${separator}`;

/** A slot after every slot with this prefix, and before any other: times begin with a digit, which `~` follows. */
export const endOf = (prefix: string): string => `${prefix}~`;

/** The sort key of a start in the index. The starts of a group in a lane are together, the oldest request first. */
export const slotOf = (place: Place): string =>
  `${prefixOf(place)}${place.at}${separator}${place.extractionId}`;

/** The place that a slot describes. Undefined if the slot is invalid. */
export const parseSlot = (slot: string): Place | undefined => {
  const [caller, priority, group, at, extractionId, ...rest] = slot.split(separator);
  if (caller === undefined || group === undefined || at === undefined || rest.length > 0) return undefined;
  if (extractionId === undefined || (priority !== 'interactive' && priority !== 'background'))
    return undefined;
  return { caller: unescaped(caller), priority, group: unescaped(group), at, extractionId };
};
