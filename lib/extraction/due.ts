import { isReadTimeOver, lagEnd, maxDelaySeconds, plusSeconds, type Timings } from './deadlines.ts';
import type { Collecting, Grace, Running } from './phase.ts';
import { type Extraction, hasWebhook, type Timestamp } from './record.ts';

/**
 * Each `dueAt`: when an open record is due to be reconciled (design, "What is due when"). A message usually comes earlier. If the message
 * is lost, the sweep finds the record from `dueAt` on. How long a status may last is in deadlines.ts (`readUntil`).
 */

/** The number of partitions of the index `due`. One partition accepts 1,000 writes/s, and a throttled index would slow down the table. */
export const dueShardCount = 16;

/**
 * The shard of an extraction: FNV-1a over the UTF-16 units of its id. It distributes UUIDs evenly and must never
 * change.
 */
export const dueShardOf = (extractionId: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < extractionId.length; index += 1) {
    hash = Math.imul(hash ^ extractionId.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % dueShardCount;
};

/** `unchanged` saves two writes to the index (DynamoDB guide, "Using global secondary indexes"). */
type Due = Timestamp | 'unchanged';

/** The attributes that put a record into the index. */
export const attributes = (extractionId: string, due: Due): Pick<Extraction, 'dueShard' | 'dueAt'> =>
  due === 'unchanged' ? {} : { dueShard: dueShardOf(extractionId), dueAt: due };

/**
 * The next time after a pause. The pause is as long as the wait since `since`, between `floor` and `ceiling` seconds. So pauses double
 * without a counter.
 */
const growing = (since: string, now: Date, floor: number, ceiling: number): Timestamp => {
  const waited = (now.getTime() - new Date(since).getTime()) / 1000;
  return plusSeconds(now, Math.min(Math.max(waited, floor), ceiling));
};

const earlier = (one: Timestamp, other: Timestamp): Timestamp => (one < other ? one : other);

/**
 * A claimed start: after the start timeout and one poll interval, so that the machine can retry first. A later `dueAt` stays, because an
 * earlier one would help only if both the machine and the rule had failed.
 */
export const claimedStart = ({ dueAt }: Extraction, now: Date, { startTimeout, pollEvery }: Timings): Due => {
  const afterTimeout = plusSeconds(now, startTimeout + pollEvery);
  return dueAt !== undefined && dueAt >= afterTimeout ? 'unchanged' : afterTimeout;
};

/** A task that was just started: the end of its execution, or its first poll if no webhook will come. */
export const startedTask = (record: Extraction, now: Date, timings: Timings): Timestamp =>
  hasWebhook(record)
    ? plusSeconds(record.deadlineAt, timings.machineSlack)
    : plusSeconds(now, timings.pollFirst);

/** A task whose start was confirmed late. Its execution has probably ended. */
export const lateTask = (now: Date, { pollEvery }: Timings): Timestamp => plusSeconds(now, pollEvery);

/** A start that another process may be making. */
export const startInProgress = (now: Date, { pollEvery }: Timings): Timestamp => plusSeconds(now, pollEvery);

/** The next poll of a running task. */
export const nextPoll = ({ startedAt }: Running, now: Date, { pollFirst, pollEvery }: Timings): Timestamp =>
  growing(startedAt, now, pollFirst, pollEvery);

/**
 * The results of a task that has just ended. A message asks for them at once. This does not need the record, because a delivery has none.
 */
export const results = (now: Date, { pollEvery }: Pick<Timings, 'pollEvery'>): Timestamp =>
  plusSeconds(now, pollEvery);

/** The longest pause between two tries to collect, in seconds. */
const collectCeiling = 3600;

/** The results, after a failed try. If reads are held when the time is over, they are tried with each poll interval. */
export const resultsAgain = (record: Collecting, now: Date, timings: Timings): Timestamp => {
  const ceiling = isReadTimeOver(record, now, timings) ? timings.pollEvery : collectCeiling;
  return growing(record.settledAt, now, timings.pollFirst, ceiling);
};

/** The missing part of the results: as for results, but no later than the end of the time in which they may lag. */
export const restOfResults = (record: Collecting, now: Date, timings: Timings): Timestamp =>
  earlier(lagEnd(record, timings), resultsAgain(record, now, timings));

/** The first read for a correction, in grace. */
export const correction = (now: Date, { pollEvery, grace }: Timings): Timestamp =>
  plusSeconds(now, Math.min(pollEvery, grace));

/** The next read for a correction. The last one is at the end of grace. If reads are held then, it is tried with each poll interval. */
export const correctionAgain = (
  { settledAt }: Grace,
  now: Date,
  { pollEvery, grace }: Timings,
): Timestamp => {
  const graceEnd = plusSeconds(settledAt, grace);
  if (now.toISOString() >= graceEnd) return plusSeconds(now, pollEvery);
  return earlier(growing(settledAt, now, pollEvery, grace), graceEnd);
};

/** A record that a newer version wrote: until that version is deployed again, it only stays in the queue. */
export const newerVersion = (now: Date): Timestamp => plusSeconds(now, maxDelaySeconds);

/**
 * The shortest lease of a record, in seconds: by default the sweep's interval. By then its message was received, or it waits behind older
 * ones.
 */
const minLeaseSeconds = 300;

/**
 * The random part of a lease, in seconds. It spreads a backlog: by default, about half of the records that were leased together are due
 * again two sweeps later, and the rest three sweeps later.
 */
const leaseSpreadSeconds = 480;

/** The lease of a sweep. `random` is at least 0 and less than 1. */
export const messageOfSweep = (now: Date, random: number): Timestamp =>
  plusSeconds(now, minLeaseSeconds + random * leaseSpreadSeconds);

/** A restored record: the next sweep queues it. */
export const restored = (now: Date): Timestamp => now.toISOString();
