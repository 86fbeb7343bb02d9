import {
  isReadTimeOver,
  lagEnd,
  maxDelaySeconds,
  plusSeconds,
  type Timings,
  windowEnd,
} from './deadlines.ts';
import type { Collecting, Grace, Running } from './phase.ts';
import { type Extraction, hasWebhook, type Timestamp } from './record.ts';

/**
 * When an open record is due to be reconciled: each `dueAt`, by what is waited for (design, "What is due when"). A message usually
 * comes first. `dueAt` is when the sweep would find a record whose message is lost. Until when a status may last: `readUntil` and its
 * neighbours in deadlines.ts.
 */

/**
 * Partitions of the index `due`. One partition accepts 1,000 writes/s, and its throttling would slow down the table.
 */
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

/** The attributes with which a record is in the index. */
export const attributes = (extractionId: string, due: Due): Pick<Extraction, 'dueShard' | 'dueAt'> =>
  due === 'unchanged' ? {} : { dueShard: dueShardOf(extractionId), dueAt: due };

/**
 * The pause is as long as the wait since `since` has been, between `floor` and `ceiling` seconds. Pauses therefore double without a
 * counter.
 */
const growing = (since: string, now: Date, floor: number, ceiling: number): Timestamp => {
  const waited = (now.getTime() - new Date(since).getTime()) / 1000;
  return plusSeconds(now, Math.min(Math.max(waited, floor), ceiling));
};

const earlier = (one: Timestamp, other: Timestamp): Timestamp => (one < other ? one : other);

/** A start: it is tried until the start window ends. The timings of one that is in line have a longer window (`reconcile.ts`, `gate.ts`). */
export const notStarted = (requestedAt: Timestamp, timings: Timings): Timestamp =>
  windowEnd(requestedAt, timings);

/**
 * When a claimed start is due: after the start timeout and one poll interval, so that the machine can retry first. A later `dueAt` stays. An
 * earlier one would help only if the machine and the rule had both failed.
 */
export const claimedStart = ({ dueAt }: Extraction, now: Date, { startTimeout, pollEvery }: Timings): Due => {
  const afterTimeout = plusSeconds(now, startTimeout + pollEvery);
  return dueAt !== undefined && dueAt >= afterTimeout ? 'unchanged' : afterTimeout;
};

/** The end of a task that was just started: when its execution has ended, or its first poll if no webhook will come. */
export const startedTask = (record: Extraction, now: Date, timings: Timings): Timestamp =>
  hasWebhook(record)
    ? plusSeconds(record.deadlineAt, timings.machineSlack)
    : plusSeconds(now, timings.pollFirst);

/** The same after a late answer. The execution has probably ended. */
export const lateTask = (now: Date, { pollEvery }: Timings): Timestamp => plusSeconds(now, pollEvery);

/** The next reconcile of a start that another process may make. */
export const startInProgress = (now: Date, { pollEvery }: Timings): Timestamp => plusSeconds(now, pollEvery);

/** The next poll of a running task. */
export const nextPoll = ({ startedAt }: Running, now: Date, { pollFirst, pollEvery }: Timings): Timestamp =>
  growing(startedAt, now, pollFirst, pollEvery);

/** The results of a task that has just ended. A message asks for them at once. A delivery knows no record. */
export const results = (now: Date, { pollEvery }: Pick<Timings, 'pollEvery'>): Timestamp =>
  plusSeconds(now, pollEvery);

/** The longest pause between two tries to collect, in seconds. */
const collectCeiling = 3600;

/** The results, after a try that failed. Past their time, reads are held and tried with each poll interval. */
export const resultsAgain = (record: Collecting, now: Date, timings: Timings): Timestamp => {
  const ceiling = isReadTimeOver(record, now, timings) ? timings.pollEvery : collectCeiling;
  return growing(record.settledAt, now, timings.pollFirst, ceiling);
};

/** The rest of the results: as before, and at the end of the time in which they may lag. */
export const restOfResults = (record: Collecting, now: Date, timings: Timings): Timestamp =>
  earlier(lagEnd(record, timings), resultsAgain(record, now, timings));

/** A correction, from the first read in grace. */
export const correction = (now: Date, { pollEvery, grace }: Timings): Timestamp =>
  plusSeconds(now, Math.min(pollEvery, grace));

/** A correction, from the next read in grace. The last one is at its end. Past it, reads are held and tried with each poll interval. */
export const correctionAgain = (
  { settledAt }: Grace,
  now: Date,
  { pollEvery, grace }: Timings,
): Timestamp => {
  const graceEnd = plusSeconds(settledAt, grace);
  if (now.toISOString() >= graceEnd) return plusSeconds(now, pollEvery);
  return earlier(growing(settledAt, now, pollEvery, grace), graceEnd);
};

/** The next deployment of the newer version that wrote the record. Until then the record only stays in the queue. */
export const newerVersion = (now: Date): Timestamp => plusSeconds(now, maxDelaySeconds);

/**
 * The shortest lease of a record, in seconds: by default the sweep's interval. By then its message has been received, or waits behind
 * older ones.
 */
const minLeaseSeconds = 300;

/**
 * A random part of the lease. By default, about half of the records that were leased together are due again two sweeps
 * later, and the rest with the third, so that a backlog is spread.
 */
const leaseSpreadSeconds = 480;

/** The message of a sweep. `random` is at least 0 and less than 1. */
export const messageOfSweep = (now: Date, random: number): Timestamp =>
  plusSeconds(now, minLeaseSeconds + random * leaseSpreadSeconds);

/** The first reconcile of a restored record: the next sweep queues it. */
export const restored = (now: Date): Timestamp => now.toISOString();
