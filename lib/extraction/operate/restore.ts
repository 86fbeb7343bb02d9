import * as due from '../due.ts';
import { type Extraction, ownOutcomes, terminalStatuses } from '../record.ts';

/** What happens to a record that is in the backup and not in the live table. */
export type RestoredRecord =
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

const isExtraction = (record: Readonly<Record<string, unknown>>): boolean =>
  typeof record.extractionId === 'string' && statuses.includes(String(record.status));

/**
 * The record of an extraction that was about to be started when the backup was made. It must never be started again,
 * because its task may have been started since. No transition leads from `UNCONFIRMED` back to `REQUESTED`. `attemptId`
 * stays, so that this attempt, if it still runs, can write its taskId (`markRunningLate`).
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
    advice: 'ask-provider',
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

export type RestoreDeps = {
  /** Writes a record if there is none. Otherwise returns the existing one. */
  readonly create: (
    record: Extraction,
  ) => Promise<{ readonly created: true } | { readonly created: false; readonly record: Extraction }>;
  /** The live records of these ids. */
  readonly find: (
    extractionIds: readonly string[],
  ) => Promise<readonly Pick<Extraction, 'extractionId' | 'requestId'>[]>;
  /** Removes the item of its request. */
  readonly forgetRequest: (record: Extraction) => Promise<void>;
  readonly except: ReadonlySet<string>;
  /** Compare only, and write nothing. */
  readonly dryRun: boolean;
  readonly now: () => Date;
  readonly recordRetention: number;
  /** Called for every record. */
  readonly onRecord: (extractionId: string, kind: RestoredKind) => void;
};

export type RestoredKind = RestoredRecord['kind'] | 'present' | 'excepted' | 'requested-again';

export type RestoreResult = Readonly<Record<RestoredKind, number>>;

export const nothingRestored: RestoreResult = {
  closed: 0,
  due: 0,
  unconfirmed: 0,
  expired: 0,
  unreadable: 0,
  present: 0,
  excepted: 0,
  'requested-again': 0,
};

/**
 * Concurrent writes of one segment of the backup. Each is a conditional put of its own: intake, or a second run, may have written the
 * record meanwhile, and a batch has no conditions. In a transaction a record would cost twice the units.
 */
const concurrency = 16;

type Live = Pick<Extraction, 'requestId'>;

/** Writes the record, and returns undefined. If there is a record already, returns that one. */
const write = async (record: Extraction, { create }: RestoreDeps): Promise<Live | undefined> => {
  const creation = await create(record);
  return creation.created ? undefined : creation.record;
};

/** The live records of a dry run, which compares only. */
const liveOf = async (
  records: readonly Extraction[],
  { dryRun, find }: RestoreDeps,
): Promise<ReadonlyMap<string, Live>> => {
  if (!dryRun) return new Map();
  const ids = records.map(({ extractionId }) => extractionId).filter((id) => typeof id === 'string');
  return new Map((await find(ids)).map((record) => [record.extractionId, record]));
};

const copy = async (
  record: Extraction,
  known: ReadonlyMap<string, Live>,
  deps: RestoreDeps,
): Promise<RestoredKind> => {
  if (deps.except.has(record.extractionId)) return 'excepted';
  const judged = judgeRecord(record, deps.now(), deps.recordRetention);
  if (!('record' in judged)) return judged.kind;
  const live = deps.dryRun ? known.get(record.extractionId) : await write(judged.record, deps);
  // No start needs it any more. Its execution may have ended while there was no record, and removes nothing.
  if (live === undefined && judged.kind === 'unconfirmed' && !deps.dryRun) await deps.forgetRequest(record);
  if (live === undefined) return judged.kind;
  return live.requestId === record.requestId ? 'present' : 'requested-again';
};

/**
 * Copies the records that the live table does not have, and overwrites none. `segments`: parts of the backup, each as pages, which are
 * copied at the same time. `requested-again` counts live records of another request than the backup's, whose idempotency keys were
 * used while the records were missing. Throws what a dependency throws; it can be repeated, because existing records stay.
 */
export const restore = async (
  segments: readonly AsyncIterable<readonly Extraction[]>[],
  deps: RestoreDeps,
): Promise<RestoreResult> => {
  const counts: Record<RestoredKind, number> = { ...nothingRestored };
  const copySegment = async (pages: AsyncIterable<readonly Extraction[]>): Promise<void> => {
    for await (const page of pages) {
      const known = await liveOf(page, deps);
      const left = page.values();
      const work = async (): Promise<void> => {
        for (const record of left) {
          const kind = await copy(record, known, deps);
          counts[kind] += 1;
          deps.onRecord(String(record.extractionId), kind);
        }
      };
      await Promise.all(Array.from({ length: concurrency }, work));
    }
  };
  await Promise.all(segments.map(copySegment));
  return counts;
};
