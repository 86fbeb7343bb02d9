import { plusSeconds, secondsSince, stuckSeconds, type Timings } from './deadlines.ts';
import { dueShardCount } from './due-shard.ts';
import type { ReconcileResult } from './reconcile.ts';
import type { Extraction } from './record.ts';
import type { ExtractionStore } from './store.ts';
import { reschedule } from './transitions.ts';

export type SweepDeps = {
  readonly extractions: ExtractionStore;
  readonly reconcile: (extractionId: string) => Promise<ReconcileResult>;
  readonly now: () => Date;
  readonly timings: Timings;
  /** From 0 up to 1, as Math.random. */
  readonly random: () => number;
  /** Told before anything is claimed: of a sweep that a record kills, this is all that will be told. */
  readonly onStart: () => void;
  /** Milliseconds that this invocation may still run. */
  readonly remainingMs: () => number;
  /** No record is begun with less than this left. One that is cut off all the same is claimed, and comes again. */
  readonly reserveMs: number;
  readonly onFailure: (extractionId: string, error: unknown) => void;
};

export type SweepResult = {
  readonly claimed: number;
  readonly closed: number;
  readonly failed: number;
  /** Stopped by the clock before the index was empty; the next sweep goes on. */
  readonly cutShort: boolean;
  /** Seconds that the record most overdue was late, 0 where nothing was due. */
  readonly oldestOverdueSeconds: number;
  /** Of what a look left open, or failed on: the longest for which any should have moved on, in seconds; 0 if none. */
  readonly oldestStuckSeconds: number;
};

/** Records looked at at once: a sweep waits for the provider most of its time. Its memory is sized by this. */
export const sweepConcurrency = 8;

/** Per shard and sweep; 16 shards of them are more than one invocation gets through. */
const perShard = 100;

/**
 * How long a claimed record is left alone at least, should the claimant die: the sweep's interval, by default. Long
 * enough that Lambda's second try, a minute later, does not die of the same record.
 */
const minClaimSeconds = 300;

/**
 * What chance adds to that. By default about half of what was claimed together is due again two sweeps later, the
 * rest with the third: eight that are too large together, as a sweep looks at eight at once, do not stay together.
 */
const claimSpreadSeconds = 480;

/**
 * Looks at everything whose `dueAt` has passed: the guarantee behind the machine and the rule. Each record
 * is claimed first, by moving its `dueAt`, so that one that kills the process cannot starve the rest.
 */
export const sweep = async (deps: SweepDeps): Promise<SweepResult> => {
  deps.onStart();
  const startedAt = deps.now();
  const shards = await Promise.all(
    Array.from({ length: dueShardCount }, (_, shard) => deps.extractions.due(shard, startedAt, perShard)),
  );
  const queue = interleave(shards);
  const counts = { claimed: 0, closed: 0, failed: 0, oldestOverdueSeconds: 0, oldestStuckSeconds: 0 };

  const claim = async (record: Extraction): Promise<boolean> => {
    const now = deps.now();
    if (record.dueAt === undefined || record.dueAt > now.toISOString()) return false;
    const claimSeconds = minClaimSeconds + deps.random() * claimSpreadSeconds;
    // Not applyChange, which would take the claim of a rival of the same millisecond for mine.
    const claimed = await deps.extractions.apply(reschedule(record, plusSeconds(now, claimSeconds)));
    // After the claim, which replaces an `dueAt` that is no time: else every sweep would begin with that row.
    counts.oldestOverdueSeconds = Math.max(counts.oldestOverdueSeconds, secondsSince(record.dueAt, now));
    return claimed.applied;
  };

  const lookAt = async (id: string): Promise<void> => {
    let left = await deps.extractions.get(id);
    if (left === undefined || !(await claim(left))) return;
    counts.claimed += 1;
    try {
      const reconciled = await deps.reconcile(id);
      if (reconciled.kind === 'closed') counts.closed += 1;
      left = reconciled.kind === 'gone' ? undefined : reconciled.record;
    } finally {
      // After the look: before it, whatever a pause of the sweep held up would be taken for stuck.
      const stuck = left === undefined ? 0 : stuckSeconds(left, deps.now(), deps.timings);
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
        await lookAt(id);
      } catch (error) {
        counts.failed += 1;
        deps.onFailure(id, error);
      }
    }
  };
  await Promise.all(Array.from({ length: sweepConcurrency }, work));
  return { ...counts, cutShort: queue.length > 0 };
};

/** One of each shard in turn, so that a full shard does not keep the others waiting. */
const interleave = (shards: readonly (readonly string[])[]): string[] => {
  const longest = Math.max(...shards.map((ids) => ids.length));
  return Array.from({ length: longest }, (_, index) =>
    shards.flatMap((ids) => (ids[index] === undefined ? [] : [ids[index]])),
  ).flat();
};
