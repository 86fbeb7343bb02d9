import { createHash } from 'node:crypto';

/** What start calls of one caller at one entity or product brought. */
export type CallCounts = {
  readonly accepted: number;
  /** By a 429 that names neither quota nor user. */
  readonly refused: number;
  /** A 5xx, or no answer in time: the first of its group since an accepted start. What follows is the breaker's. */
  readonly failed: number;
  /** The earliest time at which the provider asked one of the refused to come again, in milliseconds of the epoch. */
  readonly retryAt?: number;
};

/** Calls by their callers and groups (`callKey`). */
export type Calls = ReadonlyMap<string, CallCounts>;

/** One call, as it is counted. `times`: -1 takes back a slow one that was accepted in the end. */
export type CountedCall = {
  readonly kind: 'accepted' | 'refused' | 'failed';
  readonly key: string;
  readonly times: 1 | -1;
  readonly retryAt?: number;
};

export const noCalls: CallCounts = { accepted: 0, refused: 0, failed: 0 };

const hashOf = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length);

/** The names in an item of counts are short, as each KB of it costs a write unit. Of a hundred callers, two share one in 13 deployments. */
export const callerKey = (caller: string): string => hashOf(caller, 4);

export const callKey = (caller: string, group: string): string => `${callerKey(caller)}.${hashOf(group, 2)}`;

const callerIn = (key: string): string => key.split('.', 1)[0] ?? '';

export const addCounts = (one: CallCounts, other: CallCounts): CallCounts => {
  const retries = [one.retryAt, other.retryAt].filter((at) => at !== undefined);
  return {
    accepted: one.accepted + other.accepted,
    refused: one.refused + other.refused,
    failed: one.failed + other.failed,
    ...(retries.length === 0 ? {} : { retryAt: Math.min(...retries) }),
  };
};

const sumBy = (calls: Iterable<readonly [string, CallCounts]>, keyOf: (key: string) => string): Calls => {
  const sums = new Map<string, CallCounts>();
  for (const [key, counts] of calls) sums.set(keyOf(key), addCounts(sums.get(keyOf(key)) ?? noCalls, counts));
  return sums;
};

/** The calls of all seconds from one on. */
export const callsFrom = (calls: ReadonlyMap<number, Calls>, from: number): Calls =>
  sumBy(
    [...calls].flatMap(([second, keys]) => (second < from ? [] : [...keys])),
    (key) => key,
  );

export const byCaller = (calls: Calls): Calls => sumBy(calls, callerIn);

export const totalOf = (calls: Calls): CallCounts => [...calls.values()].reduce(addCounts, noCalls);

/** Each failed start may be `UNCONFIRMED`. */
const failedWeight = 2;

export const badIn = ({ refused, failed }: CallCounts): number => refused + failedWeight * failed;

/** The share of bad calls, from 0 to 1. */
export const shareIn = (counts: CallCounts): number =>
  badIn(counts) / Math.max(1, counts.accepted + badIn(counts));

export const callsIn = ({ accepted, refused, failed }: CallCounts): number => accepted + refused + failed;

/** The worst caller, and all others together. */
export const worstAndOthers = (calls: Calls): readonly [CallCounts, CallCounts] => {
  const [worst = noCalls, ...others] = [...byCaller(calls).values()].toSorted(
    (one, other) => shareIn(other) - shareIn(one),
  );
  return [worst, others.reduce(addCounts, noCalls)];
};

/**
 * Whether starts fail everywhere, or at some banks. An overload fails at all alike: then an accepted start is beside a failed one of its group as
 * often as chance makes it. Where banks fail, most of what is accepted is at others. Half as often as by chance counts, as calls are few.
 */
export const failsEverywhere = (calls: Calls): boolean => {
  const { accepted, failed } = totalOf(calls);
  const passed = accepted / (accepted + failed);
  let [beside, byChance] = [0, 0];
  for (const { accepted: own, failed: ownFailed } of calls.values()) {
    if (ownFailed > 0) beside += own;
    byChance += own * (1 - passed ** (own / passed - 1));
  }
  return beside >= byChance / 2;
};
