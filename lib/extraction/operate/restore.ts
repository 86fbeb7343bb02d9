import * as due from '../due.ts';
import { type Extraction, ownOutcomes, terminalStatuses } from '../record.ts';
import { removeRequest } from '../request-data.ts';
import type { RequestStore } from '../store.ts';

export const erasedKey = ({
  extractionId,
  requestId,
}: Pick<Extraction, 'extractionId' | 'requestId'>): string => [extractionId, requestId].join('/');

/** What happens to a record of the backup that the live table does not have. */
export type RestoredRecord =
  /** It was closed: written unchanged. */
  | { readonly kind: 'closed'; readonly record: Extraction }
  /** It was open: due now, so that the next sweep queues it. */
  | { readonly kind: 'due'; readonly record: Extraction }
  /** It was not started, or its start was in progress: closed as `UNCONFIRMED`, because a task may exist by now. */
  | { readonly kind: 'unconfirmed'; readonly record: Extraction }
  /** Its retention is over: not written. */
  | { readonly kind: 'expired' }
  /** It is not a record of Cosecha. */
  | { readonly kind: 'unreadable' };

const statuses: readonly string[] = ['REQUESTED', 'STARTING', 'RUNNING', ...terminalStatuses, ...ownOutcomes];

const isExtraction = (record: Readonly<Record<string, unknown>>): boolean =>
  typeof record.extractionId === 'string' && statuses.includes(String(record.status));

/**
 * The record of an extraction that was about to be started when the backup was made. Its task may have been started since, so it must never
 * be started again: no transition leads from `UNCONFIRMED` to `REQUESTED`. `attemptId` stays. If that attempt still runs, it can write its
 * taskId (`markRunningLate`).
 */
const unconfirmed = (record: Extraction, now: Date, recordRetention: number): Extraction => {
  const {
    dueShard: _shard,
    dueAt: _dueAt,
    notBefore: _notBefore,
    lastProblem: _lastProblem,
    ...closed
  } = record;
  return {
    ...closed,
    status: 'UNCONFIRMED',
    reason: 'restored',
    advice: record.erasingAt === undefined ? 'ask-provider' : 'none',
    settledAt: now.toISOString(),
    settledBy: 'reconcile',
    expiresAt: Math.floor(now.getTime() / 1000) + recordRetention,
  };
};

/** Decides what happens to one record of a backup. `recordRetention` is in seconds. */
export const judgeRecord = (record: Extraction, now: Date, recordRetention: number): RestoredRecord => {
  if (!isExtraction(record)) return { kind: 'unreadable' };
  if (record.status === 'REQUESTED' || record.status === 'STARTING') {
    return { kind: 'unconfirmed', record: unconfirmed(record, now, recordRetention) };
  }
  if (record.dueShard !== undefined) {
    const indexed = due.attributes(record.extractionId, due.restored(now));
    return { kind: 'due', record: { ...record, ...indexed } };
  }
  if (record.expiresAt !== undefined && record.expiresAt * 1000 <= now.getTime()) return { kind: 'expired' };
  return { kind: 'closed', record };
};

/** The attributes of a live record that are compared. */
export type LiveRecord = Pick<Extraction, 'extractionId' | 'requestId' | 'reason'>;

export type RestoreDeps = {
  /** Writes the records that the live table does not have. Returns the live records of all other ids. */
  readonly createMissing: (records: readonly Extraction[]) => Promise<readonly LiveRecord[]>;
  /** The live records of these ids. */
  readonly find: (extractionIds: readonly string[]) => Promise<readonly LiveRecord[]>;
  readonly requests: Pick<RequestStore, 'remove'>;
  /** The keys of erased records. A later request under the same id has another record, which is copied. */
  readonly erased: ReadonlySet<string>;
  /** Compares only, and writes nothing. */
  readonly dryRun: boolean;
  readonly now: () => Date;
  readonly recordRetention: number;
  readonly onRecord: (extractionId: string, kind: RestoredKind) => void;
};

export type RestoredKind = RestoredRecord['kind'] | 'present' | 'erased' | 'requested-again';

export type RestoreResult = Readonly<Record<RestoredKind, number>>;

export const nothingRestored: RestoreResult = {
  closed: 0,
  due: 0,
  unconfirmed: 0,
  expired: 0,
  unreadable: 0,
  present: 0,
  erased: 0,
  'requested-again': 0,
};

/** How many records are written or compared at once. BatchGetItem accepts 100 keys, and four calls write them. */
const batchSize = 100;

const judge = (record: Extraction, deps: RestoreDeps): RestoredRecord | { readonly kind: 'erased' } =>
  deps.erased.has(erasedKey(record))
    ? { kind: 'erased' }
    : judgeRecord(record, deps.now(), deps.recordRetention);

const liveOf = (
  copies: readonly Extraction[],
  { dryRun, find, createMissing }: RestoreDeps,
): Promise<readonly LiveRecord[]> =>
  dryRun ? find(copies.map(({ extractionId }) => extractionId)) : createMissing(copies);

/** The result for a copy, by the live record under its id, if there is one. */
const kindOf = (kind: RestoredKind, copy: Extraction, live: LiveRecord | undefined): RestoredKind => {
  if (live === undefined) return kind;
  return live.requestId === copy.requestId ? 'present' : 'requested-again';
};

/**
 * Whether this run or an earlier one wrote the record. (A write whose answer was lost is repeated, and then finds its own record.) The
 * stored request is removed now, because the earlier run may have ended before it did that.
 */
const isOurs = (kind: RestoredKind, live: LiveRecord | undefined): boolean =>
  kind === 'unconfirmed' || (kind === 'present' && live?.reason === 'restored');

const copyBatch = async (records: readonly Extraction[], deps: RestoreDeps): Promise<void> => {
  const judged = records.map((record) => judge(record, deps));
  const copies = judged.flatMap((one) => ('record' in one ? [one.record] : []));
  const found = copies.length === 0 ? [] : await liveOf(copies, deps);
  const live = new Map(found.map((record) => [record.extractionId, record]));
  for (const [index, one] of judged.entries()) {
    if (!('record' in one)) {
      deps.onRecord(String(records[index]?.extractionId), one.kind);
      continue;
    }
    const existing = live.get(one.record.extractionId);
    const kind = kindOf(one.kind, one.record, existing);
    // No start needs the item. The execution does not remove it if it ended while there was no record.
    if (!deps.dryRun && isOurs(kind, existing)) await removeRequest('restored', one.record, deps.requests);
    deps.onRecord(one.record.extractionId, kind);
  }
};

/**
 * Copies the records that the live table does not have, and overwrites none. `segments` are parts of the backup, which are copied at the
 * same time, page by page. `requested-again` counts live records of another request than the backup's: their idempotency keys were used
 * while the records were missing. Throws what its dependencies throw. It can be repeated, because existing records stay.
 */
export const restore = async (
  segments: readonly AsyncIterable<readonly Extraction[]>[],
  deps: RestoreDeps,
): Promise<RestoreResult> => {
  const counts: Record<RestoredKind, number> = { ...nothingRestored };
  const onRecord = (extractionId: string, kind: RestoredKind): void => {
    counts[kind] += 1;
    deps.onRecord(extractionId, kind);
  };
  const copySegment = async (pages: AsyncIterable<readonly Extraction[]>): Promise<void> => {
    for await (const page of pages) {
      for (let from = 0; from < page.length; from += batchSize) {
        await copyBatch(page.slice(from, from + batchSize), { ...deps, onRecord });
      }
    }
  };
  await Promise.all(segments.map(copySegment));
  return counts;
};
