import { plusSeconds } from '../deadlines.ts';
import type { Extraction } from '../record.ts';
import { removeRequest } from '../request-data.ts';
import type { RequestStore } from '../store.ts';

/** A record, and the time at the table when it was read. The clock of the operator may be wrong. */
export type RecordRead = { readonly record: Extraction | undefined; readonly at: Date };

/** Access to the tables and the bucket. Reads are strongly consistent. */
export type EraseDeps = {
  readonly getRecord: (extractionId: string) => Promise<RecordRead>;
  /** Deletes the record if it is still closed and has this status. Returns true also if there is no record. */
  readonly removeRecord: (extractionId: string, status: Extraction['status']) => Promise<boolean>;
  /** The MAC of credentials in that item of `Tasks`, if it is of this extraction. */
  readonly getMac: (taskId: string, extractionId: string) => Promise<string | undefined>;
  /** Whether this extraction has marked the credentials. */
  readonly hasMark: (credentialsMac: string, extractionId: string) => Promise<boolean>;
  /** Removes the extraction from that mark, and the mark with its last one. What other extractions showed stays. */
  readonly removeMark: (credentialsMac: string, extractionId: string) => Promise<void>;
  /** Whether `Tasks` has an item for the task that is not linked to another extraction. */
  readonly hasTask: (taskId: string, extractionId: string) => Promise<boolean>;
  /** Deletes that item. An item of another extraction stays, as the provider may have returned one task id twice. */
  readonly removeTask: (taskId: string, extractionId: string) => Promise<void>;
  readonly requests: Pick<RequestStore, 'get' | 'remove'>;
  /** Deletes every version of every object of the extraction, and returns their number. */
  readonly removeResults: (extractionId: string) => Promise<number>;
  readonly countResults: (extractionId: string) => Promise<number>;
  /** Timeout of reconcile-extraction, in seconds. After that, no process is left that has read the record as open. */
  readonly reconcileTimeout: number;
  /** From the close to `expiresAt`, in seconds. */
  readonly recordRetention: number;
};

export type EraseResult =
  | { readonly kind: 'erased'; readonly objects: number; readonly taskId: string | undefined }
  /** There is no record. `objects` were left by an erasure that was interrupted. */
  | { readonly kind: 'no-record'; readonly objects: number }
  | { readonly kind: 'open'; readonly record: Extraction }
  /** Closed so recently that a running function could still store results. */
  | { readonly kind: 'too-fresh'; readonly until: string }
  /** A correction reopened the record meanwhile. The results are erased, and the record stays. */
  | { readonly kind: 'reopened' }
  /** The check after the erasure found something. */
  | {
      readonly kind: 'remains';
      readonly what: readonly ('record' | 'mark' | 'task' | 'request' | 'results')[];
    };

/** The latest change of a closed record, as far as its attributes show. A mere close shows only in `expiresAt`. */
const lastChangedAt = (record: Extraction, now: string, recordRetention: number): string => {
  const { expiresAt } = record;
  const closed =
    expiresAt === undefined ? undefined : plusSeconds(new Date(expiresAt * 1000), -recordRetention);
  // If the retention setting was changed since, the result may be in the future and is not used.
  const closedAt = closed !== undefined && closed <= now ? closed : undefined;
  return [record.settledAt, record.collectedAt, closedAt]
    .filter((time) => time !== undefined)
    .reduce((latest, time) => (time > latest ? time : latest), record.requestedAt);
};

/**
 * Erases one closed extraction: results, then its mark, which its item in `Tasks` leads to, its items in `Tasks` and `Requests`, then the
 * record. In this order an interrupted erasure can be repeated, because the record goes last. Throws what a dependency throws.
 */
export const erase = async (extractionId: string, deps: EraseDeps): Promise<EraseResult> => {
  const { record, at } = await deps.getRecord(extractionId);
  if (record === undefined) return { kind: 'no-record', objects: await deps.removeResults(extractionId) };
  if (record.dueShard !== undefined) return { kind: 'open', record };
  const now = at.toISOString();
  const until = plusSeconds(lastChangedAt(record, now, deps.recordRetention), deps.reconcileTimeout);
  if (now < until) return { kind: 'too-fresh', until };

  const objects = await deps.removeResults(extractionId);
  const { taskId, requestId } = record;
  const mac = taskId === undefined ? undefined : await deps.getMac(taskId, extractionId);
  if (mac !== undefined) await deps.removeMark(mac, extractionId);
  if (taskId !== undefined) await deps.removeTask(taskId, extractionId);
  await removeRequest('erased', record, deps.requests);
  if (!(await deps.removeRecord(extractionId, record.status))) return { kind: 'reopened' };

  const what = [
    ...((await deps.getRecord(extractionId)).record === undefined ? [] : (['record'] as const)),
    ...(mac !== undefined && (await deps.hasMark(mac, extractionId)) ? (['mark'] as const) : []),
    ...(taskId !== undefined && (await deps.hasTask(taskId, extractionId)) ? (['task'] as const) : []),
    ...((await deps.requests.get(requestId)) === undefined ? [] : (['request'] as const)),
    ...((await deps.countResults(extractionId)) === 0 ? [] : (['results'] as const)),
  ];
  return what.length === 0 ? { kind: 'erased', objects, taskId } : { kind: 'remains', what };
};
