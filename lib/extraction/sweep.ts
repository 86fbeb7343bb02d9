import { logMessages } from '../observability/log-messages.ts';
import { zeroFilledMetrics } from '../observability/metric-names.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { DueRecord } from './change.ts';
import { secondsSince } from './deadlines.ts';
import { dueShardCount, messageOfSweep } from './due.ts';
import { maxPerBatch, type SendReconcileBatch } from './reconcile-message.ts';
import type { ExtractionStore } from './store.ts';
import { leaseDue } from './transitions.ts';
import { writeChange } from './write-progress.ts';

type SweepDeps = {
  readonly extractions: Pick<ExtractionStore, 'due' | 'apply'>;
  readonly sendBatch: SendReconcileBatch;
  readonly now: () => Date;
  /** At least 0 and less than 1, as Math.random. */
  readonly random: () => number;
  /** Milliseconds until the timeout of this invocation. */
  readonly remainingMs: () => number;
  /** With less time than this left, no record is leased. A record that is cut off is due again later. */
  readonly reserveMs: number;
  readonly telemetry: Telemetry;
  /** Publishes the metrics so far, before the end of the invocation. */
  readonly publish: () => void;
};

export type SweepResult = {
  /** Records that were leased and sent to the queue. */
  readonly sent: number;
  /** Records that could not be leased, or that were leased and not sent. They are due again later. */
  readonly failed: number;
  /** The time ended before the index was empty. The next sweep continues. */
  readonly cutShort: boolean;
  /** For how many seconds the oldest of these records was due. 0 if no record was due. */
  readonly oldestOverdueSeconds: number;
};

/** Records per query. All shards together are 1,600 keys, about 200 KB. */
const perQuery = 100;

type Counts = { -readonly [Name in keyof SweepResult]: SweepResult[Name] };

/**
 * Leases a record: moves its `dueAt` ahead, unless it has moved meanwhile. Returns its message and caller, or undefined if this sweep
 * did not get the lease. The message contains the new `dueAt`. So if the record is leased again before the message is received, the message
 * is dropped.
 */
const takeLease = async (
  found: DueRecord,
  counts: Counts,
  deps: SweepDeps,
): Promise<Parameters<SendReconcileBatch>[0][number] | undefined> => {
  const { extractionId, dueAt } = found;
  try {
    const time = deps.now();
    const until = messageOfSweep(time, deps.random());
    const { kind, record } = await writeChange(deps.extractions, leaseDue({ found, dueAt: until }));
    // This comes after the lease, which replaces a malformed `dueAt`. Otherwise every sweep would fail on that record.
    counts.oldestOverdueSeconds = Math.max(counts.oldestOverdueSeconds, secondsSince(dueAt, time));
    if (kind !== 'written') return undefined;
    return { message: { extractionId, cause: 'sweep', dueAt: until }, caller: record.requestedBy };
  } catch (error) {
    counts.failed += 1;
    deps.telemetry.failure('The sweep could not lease an extraction.', error, { extractionId });
    return undefined;
  }
};

/** Leases up to ten records, and sends their messages. */
const sendDue = async (found: readonly DueRecord[], counts: Counts, deps: SweepDeps): Promise<void> => {
  const leased = await Promise.all(found.map((one) => takeLease(one, counts, deps)));
  const batch = leased.filter((one) => one !== undefined);
  if (batch.length === 0) return;
  try {
    const refused = await deps.sendBatch(batch);
    counts.sent += batch.length - refused.length;
    counts.failed += refused.length;
    for (const about of refused) deps.telemetry.failure('The queue refused a message.', undefined, about);
  } catch (error) {
    counts.failed += batch.length;
    deps.telemetry.failure('The sweep could not send to the queue.', error);
  }
};

const sweepShard = async (shard: number, startedAt: Date, counts: Counts, deps: SweepDeps): Promise<void> => {
  let after: DueRecord | undefined;
  for (;;) {
    const found = await deps.extractions.due(shard, startedAt, perQuery, after);
    for (let from = 0; from < found.length; from += maxPerBatch) {
      if (deps.remainingMs() < deps.reserveMs) {
        counts.cutShort = true;
        return;
      }
      await sendDue(found.slice(from, from + maxPerBatch), counts, deps);
    }
    after = found.at(-1);
    if (found.length < perQuery) return;
  }
};

/**
 * Counts the start of a sweep, adds 0 to the metrics of metric math, and publishes both at once. If the process is killed, metrics that
 * wait for the end of the invocation are lost.
 */
const countStarted = ({ telemetry, publish }: SweepDeps): void => {
  telemetry.count('SweepStarted');
  for (const metric of zeroFilledMetrics) telemetry.count(metric, { value: 0 });
  publish();
};

const countFinished = (result: SweepResult, { telemetry }: SweepDeps): void => {
  telemetry.count('SweepFinished');
  telemetry.count('SweepSent', { value: result.sent });
  telemetry.count('OldestOverdueSeconds', { value: result.oldestOverdueSeconds });
  // reconcile-extraction counts stuck records. If there are none, their alarm still needs a value.
  telemetry.count('OldestStuckSeconds', { value: 0 });
  if (result.failed > 0) telemetry.count('SweepFailed', { value: result.failed });
  if (result.cutShort) telemetry.count('SweepCutShort');
};

/**
 * Sends every record whose `dueAt` has passed to the reconcile queue. It is the safety net for the machine, the rule and every other
 * message. Each record is leased first, so that two sweeps do not send it twice. Throws only if the index cannot be read. The failure of
 * one record is reported and counted.
 */
export const sweep = async (deps: SweepDeps): Promise<SweepResult> => {
  countStarted(deps);
  const startedAt = deps.now();
  const counts: Counts = { sent: 0, failed: 0, cutShort: false, oldestOverdueSeconds: 0 };
  const shards = await Promise.allSettled(
    Array.from({ length: dueShardCount }, (_, shard) => sweepShard(shard, startedAt, counts, deps)),
  );
  // The error is thrown only after all shards, so that one unreadable shard does not stop the others.
  const unread = shards.find(({ status }) => status === 'rejected');
  if (unread?.status === 'rejected') throw unread.reason;
  const result: SweepResult = counts;
  deps.telemetry.log(logMessages.sweepFinished, { ...result });
  countFinished(result, deps);
  return result;
};
