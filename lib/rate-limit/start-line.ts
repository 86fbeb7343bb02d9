import type { Calls, CountedCall } from './call-counts.ts';

/**
 * Who waits for the provider's rate, for a breaker or for an operator. An item of the table `StartLine` is written by start-task, and is
 * in the sparse index `line` from when the state InLine has added its callback token until it is released (design, "Starts at the
 * provider's rate").
 */

/** A request may say that nobody waits in an app for its outcome. */
export type Priority = 'interactive' | 'background';

/** What the place of a start in the line follows from. */
export type Place = {
  readonly caller: string;
  readonly priority: Priority;
  /** As the breaker's: its entity or product. */
  readonly group: string;
  /** When it was requested. Of a start that the provider refused, when it may be tried again (`placeAt`). */
  readonly at: string;
  readonly extractionId: string;
};

/** An item, as start-task writes it. The index has it once InLine has added `line` and `callbackToken`. */
export type LineEntry = {
  readonly extractionId: string;
  /** Of the record that the execution was started for. */
  readonly requestId: string;
  /** Grows with each try of the execution to start (`callbackAttempt`). */
  readonly attempt: number;
  readonly slot: string;
  /** Since when it waits. Absent after the attempt that could go, as the start window counts again from then on. */
  readonly waitingSince?: string;
  /** For how long it had waited before, in milliseconds. */
  readonly waitedMs: number;
  /** How often in all the provider has refused it as if by its rate. Absent: never. */
  readonly refusals?: number;
  /** When TTL removes it, in epoch seconds. */
  readonly expiresAt: number;
};

/** An item as it is stored. It has a callback token while its execution waits in the state InLine. */
export type StoredEntry = LineEntry & { readonly callbackToken?: string };

/** What the index shows of an execution that waits to be released. */
export type InLine = {
  readonly extractionId: string;
  readonly requestId: string;
  readonly slot: string;
  readonly callbackToken: string;
};

/** The private table `StartLine`. Every method may throw, before or after it took effect. */
export interface StartLineStore {
  /**
   * Writes the whole item, without `line` and `callbackToken`. It changes nothing if the item is of this or a later attempt: a write that is
   * late must not take out of the index what InLine has put there.
   */
  write(entry: LineEntry): Promise<void>;
  /** Strongly consistent. */
  find(extractionId: string): Promise<StoredEntry | undefined>;
  /** Removes the item, if it is of this request. */
  remove(extractionId: string, requestId: string): Promise<void>;
  /** Removes the item, if its request and its callback token, or that it has none, are as they were found. Returns whether it did. */
  withdraw(found: StoredEntry): Promise<boolean>;
  /** Those in the index after a slot, in the order of slots. Eventually consistent: it may still have who was just released. */
  next(after: string, limit: number): Promise<readonly InLine[]>;
  /** Takes it out of the index, unless it has another callback token by now. */
  leave(released: InLine): Promise<void>;
  /** Counts a call in a second of the epoch. */
  count(second: number, call: CountedCall): Promise<void>;
  /** The calls of these seconds, both included. A second without calls is left out. */
  counts(from: number, to: number): Promise<ReadonlyMap<number, Calls>>;
}

/** The key of the item that counts the calls of a second. No extraction has such an id. */
export const countsKey = (second: number | ''): string => `calls/${second}`;

/** How long a count is kept, in seconds. */
export const countsKeptSeconds = 3_600;

const separator = '#';

/** No ARN has a `#`, but an entity may. */
const escaped = (part: string): string => part.replaceAll('%', '%25').replaceAll(separator, '%23');
const unescaped = (part: string): string => part.replaceAll('%23', separator).replaceAll('%25', '%');

/** A *lane* is what waits of one caller with one priority. */
export const laneOf = ({ caller, priority }: Pick<Place, 'caller' | 'priority'>): string =>
  [escaped(caller), priority].join(separator);

/** Every slot of a lane comes before this, and every one of the next lane after it: `$` follows `#`. */
export const endOfLane = (lane: string): string => `${lane}$`;

/** The start of every slot of one group in one lane. */
export const prefixOf = (place: Pick<Place, 'caller' | 'priority' | 'group'>): string =>
  `${laneOf(place)}${separator}${escaped(place.group)}${separator}`;

/** A slot that comes after all of these, and before every other prefix's. A time begins with a digit. */
export const endOf = (prefix: string): string => `${prefix}~`;

/** The place of a start in the index: all of a group in a lane together, the oldest request first. */
export const slotOf = (place: Place): string =>
  `${prefixOf(place)}${place.at}${separator}${place.extractionId}`;

/** The place of a slot. Undefined if it is none. */
export const parseSlot = (slot: string): Place | undefined => {
  const [caller, priority, group, at, extractionId, ...rest] = slot.split(separator);
  if (caller === undefined || group === undefined || at === undefined || rest.length > 0) return undefined;
  if (extractionId === undefined || (priority !== 'interactive' && priority !== 'background'))
    return undefined;
  return { caller: unescaped(caller), priority, group: unescaped(group), at, extractionId };
};
