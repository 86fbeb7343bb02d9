import type { Count, MetricName } from '../observability/metric-names.ts';
import { countSweep, countSweepStarted, type SweepResult } from './count-sweep.ts';
import { plusSeconds, secondsSince, stuckSeconds, type Timings } from './deadlines.ts';
import { dueShardCount } from './due-shard.ts';
import type { Journal } from './journal.ts';
import type { ReconcileResult } from './reconcile.ts';
import type { Extraction } from './record.ts';
import type { ExtractionStore } from './store.ts';
import { reschedule } from './transitions.ts';

export type SweepDeps = {
  readonly extractions: ExtractionStore;
  readonly reconcile: (extractionId: string) => Promise<ReconcileResult>;
  readonly now: () => Date;
  readonly timings: Timings;
  /** At least 0 and less than 1, as Math.random. */
  readonly random: () => number;
  /** Milliseconds until the timeout of this invocation. */
  readonly remainingMs: () => number;
  /** No record is claimed with less than this left. A record that is cut off nevertheless is due again later. */
  readonly reserveMs: number;
  readonly journal: Journal;
  /** Of the sweep itself. `publish` writes what was counted so far, instead of at the end of the invocation. */
  readonly metrics: { readonly count: Count<MetricName>; readonly publish: () => void };
};

/**
 * How many records are reconciled at once. Most of the time is spent waiting for the provider. Memory is sized by
 * this.
 */
export const sweepConcurrency = 8;

/** Records per shard and sweep. 16 shards of them are more than one invocation can reconcile. */
const perShard = 100;

/**
 * For how long a claimed record is left alone at least, if the process ends: by default the sweep's interval. Lambda's
 * retry comes after a minute, and must not be ended by the same record.
 */
const minClaimSeconds = 300;

/**
 * A random part of the claim. By default, about half of the records that were claimed together are due again two sweeps
 * later, and the rest with the third. Eight records that are too large together are therefore soon apart.
 */
const claimSpreadSeconds = 480;

/**
 * Claims a due record by moving its `dueAt` ahead. Returns for how many seconds it was overdue, and whether this sweep
 * has the claim. Throws a RangeError if `dueAt` is not a time.
 */
const claim = async (
  record: Extraction,
  { extractions, now, random }: SweepDeps,
): Promise<{ readonly claimed: boolean; readonly overdueSeconds: number }> => {
  const time = now();
  if (record.dueAt === undefined || record.dueAt > time.toISOString()) {
    return { claimed: false, overdueSeconds: 0 };
  }
  const claimSeconds = minClaimSeconds + random() * claimSpreadSeconds;
  // Not applyChange, which would take another sweep's claim of the same millisecond for this one's.
  const claimed = await extractions.apply(reschedule(record, plusSeconds(time, claimSeconds)));
  // After the claim, which replaces a malformed `dueAt`. Otherwise every sweep would fail on that row first.
  return { claimed: claimed.applied, overdueSeconds: secondsSince(record.dueAt, time) };
};

/** Takes one id of each shard in turn, so that a full shard does not delay the others. */
const interleave = (shards: readonly (readonly string[])[]): string[] => {
  const longest = Math.max(...shards.map((ids) => ids.length));
  return Array.from({ length: longest }, (_, index) =>
    shards.flatMap((ids) => (ids[index] === undefined ? [] : [ids[index]])),
  ).flat();
};

const dueIds = async ({ extractions, now }: SweepDeps): Promise<string[]> => {
  const startedAt = now();
  return interleave(
    await Promise.all(
      Array.from({ length: dueShardCount }, (_, shard) => extractions.due(shard, startedAt, perShard)),
    ),
  );
};

/** Reconciles the records of a queue until it is empty or the time is over. */
const reconcileAll = async (queue: string[], deps: SweepDeps): Promise<SweepResult> => {
  const counts = { claimed: 0, closed: 0, failed: 0, oldestOverdueSeconds: 0, oldestStuckSeconds: 0 };

  const reconcileOne = async (id: string): Promise<void> => {
    let record = await deps.extractions.get(id);
    if (record === undefined) return;
    const { claimed, overdueSeconds } = await claim(record, deps);
    counts.oldestOverdueSeconds = Math.max(counts.oldestOverdueSeconds, overdueSeconds);
    if (!claimed) return;
    counts.claimed += 1;
    try {
      const result = await deps.reconcile(id);
      if (result.kind === 'closed') counts.closed += 1;
      record = result.kind === 'gone' ? undefined : result.record;
    } finally {
      // Measured after the reconcile. Before it, every record that waited for a paused sweep would count as stuck.
      const stuck = record === undefined ? 0 : stuckSeconds(record, deps.now(), deps.timings);
      counts.oldestStuckSeconds = Math.max(counts.oldestStuckSeconds, stuck);
    }
  };

  const work = async (): Promise<void> => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      if (deps.remainingMs() < deps.reserveMs) {
        queue.unshift(id);
        return;
      }
      try {
        await reconcileOne(id);
      } catch (error) {
        counts.failed += 1;
        deps.journal.failure('The sweep could not reconcile an extraction.', error, { extractionId: id });
      }
    }
  };
  await Promise.all(Array.from({ length: sweepConcurrency }, work));
  return { ...counts, cutShort: queue.length > 0 };
};

/**
 * Reconciles every record whose `dueAt` has passed. This is the guarantee behind the machine and the rule. Each record is
 * claimed first, so that a record that ends the process cannot starve the others. Throws only if the index cannot be
 * read; the failure of one record is reported and counted.
 */
export const sweep = async (deps: SweepDeps): Promise<SweepResult> => {
  const { journal, metrics } = deps;
  // Before anything is claimed: of a sweep whose process is ended, this is the only metric.
  countSweepStarted(metrics.count, metrics.publish);
  const result = await reconcileAll(await dueIds(deps), deps);
  journal.info('Sweep finished.', { ...result });
  countSweep(result, metrics.count);
  return result;
};
