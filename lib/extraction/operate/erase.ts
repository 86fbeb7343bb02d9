import { plusSeconds } from '../deadlines.ts';
import type { Extraction } from '../record.ts';

/** A record, and what time it was at the table: by the clock of the operator, a close may be long ago, or yet to come. */
export type RecordRead = { readonly record: Extraction | undefined; readonly at: Date };

/** What erasing needs of the two tables and the bucket. Reads are strongly consistent. */
export type EraseDeps = {
  readonly getRecord: (extractionId: string) => Promise<RecordRead>;
  /** Deletes the row if it is still closed and has this status; true also where it is gone already. */
  readonly removeRecord: (extractionId: string, status: Extraction['status']) => Promise<boolean>;
  /** Whether there is a row in Tasks that is not another extraction's. */
  readonly hasTask: (taskId: string, extractionId: string) => Promise<boolean>;
  /** Deletes that row; leaves one that is another's, as the provider may have named one task twice. */
  readonly removeTask: (taskId: string, extractionId: string) => Promise<void>;
  /** Deletes every object of the extraction in every version, and returns how many there were. */
  readonly removeResults: (extractionId: string) => Promise<number>;
  readonly countResults: (extractionId: string) => Promise<number>;
  /** Timeout of reconcile-extraction, in seconds: whoever saw the record open has ended after that. */
  readonly reconcileTimeout: number;
  /** From close to `expiresAt`, in seconds. */
  readonly recordRetention: number;
};

export type EraseResult =
  | { readonly kind: 'erased'; readonly objects: number; readonly taskId: string | undefined }
  /** No record. `objects` were there all the same: left by an erasure that was cut off. */
  | { readonly kind: 'no-record'; readonly objects: number }
  | { readonly kind: 'open'; readonly record: Extraction }
  /** Closed so lately that a function which saw it open could still store results. */
  | { readonly kind: 'too-fresh'; readonly until: string }
  /** A late word of the provider opened it again while it was being erased; results are gone, the record stays. */
  | { readonly kind: 'reopened' }
  /** Reading again found something. */
  | { readonly kind: 'remains'; readonly what: readonly ('record' | 'task' | 'results')[] };

/** When the record was last moved, as far as it says. A close by itself shows only in `expiresAt`. */
const lastChangedAt = (record: Extraction, now: string, recordRetention: number): string => {
  const { expiresAt } = record;
  const closed =
    expiresAt === undefined ? undefined : plusSeconds(new Date(expiresAt * 1000), -recordRetention);
  // A retention that was changed since would name a close that is yet to come.
  const closedAt = closed !== undefined && closed <= now ? closed : undefined;
  return [record.settledAt, record.collectedAt, closedAt]
    .filter((time) => time !== undefined)
    .reduce((latest, time) => (time > latest ? time : latest), record.requestedAt);
};

/**
 * Erases one closed extraction: results, then the row in Tasks, then the record, so that an erasure that is cut off
 * can be repeated, as the record still says what there was. Throws what a dependency throws.
 */
export const erase = async (extractionId: string, deps: EraseDeps): Promise<EraseResult> => {
  const { record, at } = await deps.getRecord(extractionId);
  if (record === undefined) return { kind: 'no-record', objects: await deps.removeResults(extractionId) };
  if (record.dueShard !== undefined) return { kind: 'open', record };
  const now = at.toISOString();
  const until = plusSeconds(lastChangedAt(record, now, deps.recordRetention), deps.reconcileTimeout);
  if (now < until) return { kind: 'too-fresh', until };

  const objects = await deps.removeResults(extractionId);
  const { taskId } = record;
  if (taskId !== undefined) await deps.removeTask(taskId, extractionId);
  if (!(await deps.removeRecord(extractionId, record.status))) return { kind: 'reopened' };

  const what = [
    ...((await deps.getRecord(extractionId)).record === undefined ? [] : (['record'] as const)),
    ...(taskId !== undefined && (await deps.hasTask(taskId, extractionId)) ? (['task'] as const) : []),
    ...((await deps.countResults(extractionId)) === 0 ? [] : (['results'] as const)),
  ];
  return what.length === 0 ? { kind: 'erased', objects, taskId } : { kind: 'remains', what };
};
