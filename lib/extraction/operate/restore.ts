import { dueShardOf } from '../due-shard.ts';
import { type Extraction, ownOutcomes, terminalStatuses } from '../record.ts';

/** What becomes of a row that the backup has and the live table has not. */
export type RestoredRow =
  /** Closed: as it was. */
  | { readonly kind: 'closed'; readonly record: Extraction }
  /** Something was left to do: due now, so that the next sweep asks the provider. */
  | { readonly kind: 'due'; readonly record: Extraction }
  /** It had not been confirmed as started: closed, as nobody can tell what happened since. */
  | { readonly kind: 'unconfirmed'; readonly record: Extraction }
  /** Its retention is over: it would only be deleted again. */
  | { readonly kind: 'expired' }
  /** No row of ours. */
  | { readonly kind: 'unreadable' };

const statuses: readonly string[] = ['REQUESTED', 'STARTING', 'RUNNING', ...terminalStatuses, ...ownOutcomes];

const isExtraction = (row: Readonly<Record<string, unknown>>): boolean =>
  typeof row.extractionId === 'string' && statuses.includes(String(row.status));

/**
 * A row that was about to be started when the backup was made. Since then its task may have been started, so it must
 * never be started again: no move leads from `UNCONFIRMED` to `REQUESTED`, the only status that start-task begins
 * from, and intake starts an execution for nothing else. `attemptId` stays: should that very attempt still run, it
 * is the one that may yet write the taskId it was given (`runLate`).
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

/** Judges one row of a backup. `recordRetention` in seconds. */
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
  /** Writes a row only where there is none; else the one that is there. */
  readonly create: (
    record: Extraction,
  ) => Promise<{ readonly created: true } | { readonly created: false; readonly record: Extraction }>;
  readonly get: (extractionId: string) => Promise<Extraction | undefined>;
  readonly except: ReadonlySet<string>;
  /** Only look. */
  readonly dryRun: boolean;
  readonly now: () => Date;
  readonly recordRetention: number;
  /** Told of every row but those that are there already. */
  readonly onRow: (extractionId: string, kind: RestoredKind) => void;
};

export type RestoredKind = RestoredRow['kind'] | 'present' | 'excepted' | 'requested-again';

export type RestoreResult = Readonly<Record<RestoredKind, number>>;

/** Writes at once: a table on demand takes thousands a second, one connection some dozens. */
const concurrency = 16;

/**
 * Copies the rows that the live table lacks, and overwrites none. `requested-again` counts live rows that are of
 * another request than the backup's: their idempotency keys were used while the rows were missing. Throws what a
 * dependency throws; it can be repeated, as what is there is left alone.
 */
export const restore = async (rows: AsyncIterable<Extraction>, deps: RestoreDeps): Promise<RestoreResult> => {
  const counts: Record<RestoredKind, number> = {
    ...{ closed: 0, due: 0, unconfirmed: 0, expired: 0, unreadable: 0 },
    ...{ present: 0, excepted: 0, 'requested-again': 0 },
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

/** Undefined: the row is written now. */
const write = async (record: Extraction, { create }: RestoreDeps): Promise<Extraction | undefined> => {
  const creation = await create(record);
  return creation.created ? undefined : creation.record;
};
