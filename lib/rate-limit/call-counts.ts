import { createHash } from 'node:crypto';

/** How the start calls of one caller at one entity or product ended. */
export type CallCounts = {
  readonly accepted: number;
  /** Refused by a 429 that names neither quota nor user. */
  readonly refused: number;
  /** A 5xx or no answer in time. Only the first of its group since an accepted start counts here. The breaker counts the others. */
  readonly failed: number;
  /** The earliest time to retry that the provider gave, in milliseconds of the epoch. Of one second, only the last one given is kept. */
  readonly retryAt?: number;
};

/** The counts of each caller and group, by `callKey`. */
export type Calls = ReadonlyMap<string, CallCounts>;

/** One call to count. With `times: -1`, a start that was counted as failed is taken back, because it was slow and then accepted. */
export type CountedCall = {
  readonly kind: 'accepted' | 'refused' | 'failed';
  readonly key: string;
  readonly times: 1 | -1;
  readonly retryAt?: number;
};

export const noCalls: CallCounts = { accepted: 0, refused: 0, failed: 0 };

const hashOf = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length);

/** Keys are short, because each KB of the item costs a write unit. With a hundred callers, two share a key in 1 of 13 deployments. */
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

/** The sum of all calls since the second `from`. */
export const callsFrom = (calls: ReadonlyMap<number, Calls>, from: number): Calls =>
  sumBy(
    [...calls].flatMap(([second, keys]) => (second < from ? [] : [...keys])),
    (key) => key,
  );

export const byCaller = (calls: Calls): Calls => sumBy(calls, callerIn);

export const totalOf = (calls: Calls): CallCounts => [...calls.values()].reduce(addCounts, noCalls);

/** A failed start counts twice, because it may end as `UNCONFIRMED`. */
const failedWeight = 2;

export const badIn = ({ refused, failed }: CallCounts): number => refused + failedWeight * failed;

/** The share of bad calls, from 0 to 1. */
export const shareIn = (counts: CallCounts): number =>
  badIn(counts) / Math.max(1, counts.accepted + badIn(counts));

export const callsIn = ({ accepted, refused, failed }: CallCounts): number => accepted + refused + failed;

/** The counts of the caller with the largest share of bad calls, and the sum of all other callers. */
export const worstAndOthers = (calls: Calls): readonly [CallCounts, CallCounts] => {
  const [worst = noCalls, ...others] = [...byCaller(calls).values()].toSorted(
    (one, other) => shareIn(other) - shareIn(one),
  );
  return [worst, others.reduce(addCounts, noCalls)];
};

/**
 * Whether starts fail in all groups (an overload), or only at some banks. In an overload, accepted starts are in groups with failed ones as
 * often as chance makes it. If banks fail, most accepted starts are in other groups. Half as often as by chance is enough, because calls
 * are few.
 */
export const failsEverywhere = (calls: Calls): boolean => {
  const { accepted, failed } = totalOf(calls);
  // An outage, which the breakers handle.
  if (accepted === 0) return false;
  const passed = accepted / (accepted + failed);
  let [beside, byChance] = [0, 0];
  for (const { accepted: own, failed: ownFailed } of calls.values()) {
    if (ownFailed > 0) beside += own;
    byChance += own * (1 - passed ** (own / passed - 1));
  }
  return beside >= byChance / 2;
};
