import { dueShardOf } from '../deadlines.ts';
import { type Extraction, ownOutcomes, terminalStatuses } from '../record.ts';

/** What happens to a row that is in the backup and not in the live table. */
export type RestoredRow =
  /** It was closed: written unchanged. */
  | { readonly kind: 'closed'; readonly record: Extraction }
  /** It was open: due now, so that the next sweep queues it. */
  | { readonly kind: 'due'; readonly record: Extraction }
  /** It was not started, or its start was in progress: closed as `UNCONFIRMED`, as a task may exist by now. */
  | { readonly kind: 'unconfirmed'; readonly record: Extraction }
  /** Its retention is over: not written. */
  | { readonly kind: 'expired' }
  /** It is not a record of Cosecha. */
  | { readonly kind: 'unreadable' };

const statuses: readonly string[] = ['REQUESTED', 'STARTING', 'RUNNING', ...terminalStatuses, ...ownOutcomes];

const isExtraction = (row: Readonly<Record<string, unknown>>): boolean =>
  typeof row.extractionId === 'string' && statuses.includes(String(row.status));

/**
 * The record of an extraction that was about to be started when the backup was made. It must never be started again,
 * because its task may have been started since. No transition leads from `UNCONFIRMED` back to `REQUESTED`. `attemptId`
 * stays, so that this attempt, if it still runs, can write its taskId (`markRunningLate`).
 */
const unconfirmed = (row: Extraction, now: Date, recordRetention: number): Extraction => {
  const { dueShard: _dueShard, dueAt: _dueAt, ...closed } = row;
  return {
    ...closed,
    status: 'UNCONFIRMED',
    reason: 'restored',
    settledAt: now.toISOString(),
    settledBy: 'reconcile',
    expiresAt: Math.floor(now.getTime() / 1000) + recordRetention,
  };
};

/** Decides what happens to one row of a backup. `recordRetention` is in seconds. */
export const judgeRow = (row: Extraction, now: Date, recordRetention: number): RestoredRow => {
  if (!isExtraction(row)) return { kind: 'unreadable' };
  if (row.status === 'REQUESTED' || row.status === 'STARTING') {
    return { kind: 'unconfirmed', record: unconfirmed(row, now, recordRetention) };
  }
  if (row.dueShard !== undefined) {
    const due = { dueShard: dueShardOf(row.extractionId), dueAt: now.toISOString() };
    return { kind: 'due', record: { ...row, ...due } };
  }
  if (row.expiresAt !== undefined && row.expiresAt * 1000 <= now.getTime()) return { kind: 'expired' };
  return { kind: 'closed', record: row };
};

export type RestoreDeps = {
  /** Writes a row if there is none. Otherwise returns the existing one. */
  readonly create: (
    record: Extraction,
  ) => Promise<{ readonly created: true } | { readonly created: false; readonly record: Extraction }>;
  readonly get: (extractionId: string) => Promise<Extraction | undefined>;
  readonly except: ReadonlySet<string>;
  /** Compare only, and write nothing. */
  readonly dryRun: boolean;
  readonly now: () => Date;
  readonly recordRetention: number;
  /** Called for every row except those that are present already. */
  readonly onRow: (extractionId: string, kind: RestoredKind) => void;
};

export type RestoredKind = RestoredRow['kind'] | 'present' | 'excepted' | 'requested-again';

export type RestoreResult = Readonly<Record<RestoredKind, number>>;

/** Concurrent writes. An on-demand table accepts thousands per second, and one connection makes some dozens. */
const concurrency = 16;

/**
 * Copies the rows that the live table does not have, and overwrites none. `requested-again` counts live rows of another
 * request than the backup's, whose idempotency keys were used while the rows were missing. Throws what a dependency
 * throws; it can be repeated, because existing rows stay.
 */
export const restore = async (rows: AsyncIterable<Extraction>, deps: RestoreDeps): Promise<RestoreResult> => {
  const counts: Record<RestoredKind, number> = {
    closed: 0,
    due: 0,
    unconfirmed: 0,
    expired: 0,
    unreadable: 0,
    present: 0,
    excepted: 0,
    'requested-again': 0,
  };
  const copy = async (row: Extraction): Promise<RestoredKind> => {
    if (deps.except.has(row.extractionId)) return 'excepted';
    const judged = judgeRow(row, deps.now(), deps.recordRetention);
    if (!('record' in judged)) return judged.kind;
    const live = deps.dryRun ? await deps.get(row.extractionId) : await write(judged.record, deps);
    if (live === undefined) return judged.kind;
    return live.requestId === row.requestId ? 'present' : 'requested-again';
  };

  const queue = rows[Symbol.asyncIterator]();
  const work = async (): Promise<void> => {
    for (let next = await queue.next(); next.done !== true; next = await queue.next()) {
      const kind = await copy(next.value);
      counts[kind] += 1;
      if (kind !== 'present') deps.onRow(String(next.value.extractionId), kind);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return counts;
};

/** Writes the row, and returns undefined. If there is a row already, returns that one. */
const write = async (record: Extraction, { create }: RestoreDeps): Promise<Extraction | undefined> => {
  const creation = await create(record);
  return creation.created ? undefined : creation.record;
};
