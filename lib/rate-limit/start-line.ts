import { createHash } from 'node:crypto';

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
  /**
   * When it was requested. What the provider refused is older than all that still wait, so it comes to the front. Of a start that was
   * refused again and again, when it may be tried again (`placeAt`).
   */
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

/** What start calls of one second brought. */
export type CallCounts = {
  readonly accepted: number;
  /** By a 429 that names neither quota nor user. */
  readonly refused: number;
  /** A 503, another 5xx or no answer, beside accepted starts. */
  readonly overloaded: number;
  /** The accepted calls of each bucket (`bucketOf`). */
  readonly acceptedIn: { readonly [bucket: string]: number };
  /** The buckets of `overloaded`. */
  readonly overloadedIn: readonly string[];
};

export const noCalls: CallCounts = {
  accepted: 0,
  refused: 0,
  overloaded: 0,
  acceptedIn: {},
  overloadedIn: [],
};

/** What one call showed, and the bucket of its bank or product. */
export type CountedCall = {
  readonly kind: 'accepted' | 'refused' | 'overloaded';
  readonly bucket: string;
};

export const countsOf = ({ kind, bucket }: CountedCall, times = 1): CallCounts => ({
  ...noCalls,
  [kind]: times,
  ...(kind === 'accepted' ? { acceptedIn: { [bucket]: times } } : {}),
  ...(kind === 'overloaded' ? { overloadedIn: [bucket] } : {}),
});

export const addCounts = (one: CallCounts, other: CallCounts): CallCounts => {
  const acceptedIn = { ...one.acceptedIn };
  for (const [bucket, calls] of Object.entries(other.acceptedIn)) {
    acceptedIn[bucket] = (acceptedIn[bucket] ?? 0) + calls;
  }
  return {
    accepted: one.accepted + other.accepted,
    refused: one.refused + other.refused,
    overloaded: one.overloaded + other.overloaded,
    acceptedIn,
    overloadedIn: [...new Set([...one.overloadedIn, ...other.overloadedIn])],
  };
};

/** One of 64 for a bank or product: so many fit into the item of a second and of the rate. Two banks share one in 64. */
export const bucketOf = (group: string): string =>
  String(createHash('sha256').update(group).digest().readUInt8(0) % 64);

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
  /** Adds one call to a second of the epoch. */
  count(second: number, call: CountedCall): Promise<void>;
  /** The calls of these seconds, both included. */
  counts(from: number, to: number): Promise<CallCounts>;
}

/** The key of the item that counts the calls of a second. No extraction has such an id. */
export const countsKey = (second: number): string => `calls/${second}`;

/** How long a count is kept, in seconds. */
export const countsKeptSeconds = 3_600;

const separator = '#';

/** No ARN has a `#`, but an entity may. */
const escaped = (part: string): string => part.replaceAll('%', '%25').replaceAll(separator, '%23');
const unescaped = (part: string): string => part.replaceAll('%23', separator).replaceAll('%25', '%');

/** `background` for what nobody waits for in an app. It has a lane of its own. */
export const laneOf = ({ caller, priority }: Pick<Place, 'caller' | 'priority'>): string =>
  [escaped(caller), priority].join(separator);

/** The start of every slot of one group in one lane. */
export const prefixOf = (place: Pick<Place, 'caller' | 'priority' | 'group'>): string =>
  `${laneOf(place)}${separator}${escaped(place.group)}${separator}`;

/** The place of a start in the index: all of a group in a lane together, the oldest request first. */
export const slotOf = (place: Place): string =>
  `${prefixOf(place)}${place.at}${separator}${place.extractionId}`;

/** A slot that comes after all of these, and before every other prefix's. A time begins with a digit. */
export const endOf = (prefix: string): string => `${prefix}~`;

/** The place of a slot. Undefined if it is none. */
export const parseSlot = (slot: string): Place | undefined => {
  const [caller, priority, group, at, extractionId, ...rest] = slot.split(separator);
  if (caller === undefined || group === undefined || at === undefined || rest.length > 0) return undefined;
  if (extractionId === undefined || (priority !== 'interactive' && priority !== 'background'))
    return undefined;
  return { caller: unescaped(caller), priority, group: unescaped(group), at, extractionId };
};

/**
 * A provider may refuse one user for a reason of its own, and not say so. After so many refusals of one start it is taken for that: while
 * 5 % of all are refused, three in a row are one start in 8,000.
 */
const refusalsOfTheRate = 2;

/** In seconds. Each pause is twice the one before it, up to the last. With that again and again, 6 h have some 360 tries. */
const [firstPause, maxPause] = [5, 60];

/** Whether a start that was refused so often before shows how fast the provider takes starts. */
export const showsRate = (refusals: number): boolean => refusals < refusalsOfTheRate;

/** The time that gives a start its place, which must not hold those behind it for ever (`Place.at`). */
export const placeAt = (
  requestedAt: string,
  { refusals, notBefore = '' }: { refusals: number; notBefore?: string | undefined },
  now: Date,
): string => {
  const again = refusals - refusalsOfTheRate;
  if (again <= 0) return requestedAt;
  const seconds = Math.min(maxPause, firstPause * 2 ** (again - 1));
  const at = new Date(now.getTime() + seconds * 1_000).toISOString();
  return at > notBefore ? at : notBefore;
};

/** How long a start has waited by now, in milliseconds. The start window does not count this time. */
export const waitedMs = (entry: LineEntry | undefined, now: Date): number => {
  if (entry === undefined) return 0;
  const since = entry.waitingSince === undefined ? now.getTime() : Date.parse(entry.waitingSince);
  return entry.waitedMs + Math.max(0, now.getTime() - since);
};

/** Whether it has waited for `maxWait` seconds in all, so that it is not started any more. */
export const hasWaitedTooLong = (entry: LineEntry | undefined, now: Date, maxWait: number): boolean =>
  waitedMs(entry, now) >= maxWait * 1_000;

/**
 * For how many seconds after its request a start may be tried: the start window does not count its time in line. One that waits has its
 * turn until it has waited for too long.
 */
export const startWindowOf = (
  {
    waitedMs: before,
    waitingSince,
  }: Pick<LineEntry, 'waitedMs'> & { readonly waitingSince?: string | undefined },
  requestedAt: string,
  { startWindow, maxWait }: { readonly startWindow: number; readonly maxWait: number },
): number =>
  waitingSince === undefined
    ? startWindow + before / 1_000
    : maxWait + (Date.parse(waitingSince) - Date.parse(requestedAt) - before) / 1_000;

export type EndWaitDeps = {
  readonly startLine: Pick<StartLineStore, 'find' | 'withdraw'>;
  /** Answers a callback token with success. */
  readonly wake: (callbackToken: string, extractionId: string) => Promise<unknown>;
};

/** The item changes when its execution begins to wait, and when the dispatcher releases it. */
const maxTries = 3;

/**
 * Ends the wait in line of an extraction that is not started any more. Its execution then finds the closed record, or none, and ends. The token is
 * answered before the item goes: if this process ends in between, the dispatcher answers it again, in its turn. Returns false if the item
 * changed again and again. Throws what the store or `wake` throws.
 */
export const endWait = async (
  { extractionId, requestId }: Pick<LineEntry, 'extractionId' | 'requestId'>,
  { startLine, wake }: EndWaitDeps,
): Promise<boolean> => {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const found = await startLine.find(extractionId);
    if (found?.requestId !== requestId) return true;
    if (found.callbackToken !== undefined) await wake(found.callbackToken, extractionId);
    if (await startLine.withdraw(found)) return true;
  }
  return false;
};
