import type { Telemetry } from '../observability/telemetry.ts';
import { plusSeconds, type Timings } from './deadlines.ts';
import type { Extraction } from './record.ts';
import type { RequestStore, StoredRequest } from './store.ts';

/** A read could not be made, because the item with the sealed target is not there. */
export class RequestDataGone extends Error {
  override readonly name = 'RequestDataGone';

  constructor() {
    super('The sealed data of the request are gone.');
  }
}

/** The `reason` of a record that was not started for this, and the `collectionError` of one that was not read. */
export const requestDataGone = 'request-data-gone';

const hour = 3_600;
const day = 24 * hour;

/**
 * The last moment at which the sealed data of a request can be needed. The item is removed when the data have been used;
 * DynamoDB removes what a process that ended has left, within days of this moment
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html).
 */
const neededUntil = (
  { method, requestedAt, deadlineAt }: Pick<Extraction, 'method' | 'requestedAt' | 'deadlineAt'>,
  timings: Timings,
): string => {
  const { startWindow, startTimeout, grace, collectFor } = timings;
  return method === 'credentials'
    ? plusSeconds(requestedAt, startWindow + startTimeout + hour)
    : plusSeconds(deadlineAt, grace + collectFor + day);
};

const epochSeconds = (time: string): number => Math.ceil(new Date(time).getTime() / 1000);

/** The `expiresAt` with which intake writes an item, in epoch seconds. */
export const requestExpiry = (
  record: Pick<Extraction, 'method' | 'requestedAt' | 'deadlineAt'>,
  timings: Timings,
): number => epochSeconds(neededUntil(record, timings));

/**
 * Whether the item may expire before a reconcile at `dueAt`. By consent, it outlives the deadline by a day, whatever the settings
 * were when intake wrote it. So no poll before the deadline has to read when it expires.
 */
export const mayExpireBefore = (dueAt: string, record: Extraction): boolean =>
  !isRequestDone(record) && (record.method === 'credentials' || dueAt > record.deadlineAt);

/**
 * The `expiresAt` with which an item outlives a reconcile at `dueAt`. A pause, or settings that have become longer, may hold the
 * record beyond the moment that intake has written. Undefined if that moment is late enough.
 */
export const extendedExpiry = ({ expiresAt }: StoredRequest, dueAt: string): number | undefined =>
  expiresAt >= epochSeconds(plusSeconds(dueAt, hour)) ? undefined : epochSeconds(plusSeconds(dueAt, day));

/**
 * Whether nothing needs the sealed data of this record any more. Each poll of an extraction by consent does, also after the end
 * of grace: a read that was under way when another one closed the record may still correct it, and the results are then
 * collected. So the item of a consent that stays `TIMED_OUT` is left to expire.
 */
export const isRequestDone = ({ method, status, dueShard }: Extraction): boolean =>
  method === 'consent'
    ? dueShard === undefined && status !== 'TIMED_OUT'
    : status !== 'REQUESTED' && status !== 'STARTING';

/**
 * Whether a reconcile that closes the record removes the item. With credentials, start-task has done so once it had linked the
 * task, and has not if it did not come that far.
 */
export const goesWithClose = (record: Extraction): boolean =>
  record.method === 'consent'
    ? isRequestDone(record)
    : record.status === 'NOT_STARTED' || record.status === 'UNCONFIRMED';

type RequestDeps = { readonly requests: RequestStore; readonly telemetry: Telemetry };

/**
 * The item of a record's request. Undefined if there is none, or one of another extraction; the caller then reads the record
 * again, because the process that used the item also removed it. Throws what the store throws.
 */
export const findRequest = async (
  { extractionId, requestId }: Pick<Extraction, 'extractionId' | 'requestId'>,
  { requests }: { readonly requests: Pick<RequestStore, 'get'> },
): Promise<StoredRequest | undefined> => {
  const item = await requests.get(requestId);
  return item?.extractionId === extractionId ? item : undefined;
};

/**
 * Removes the item of a request. A failure is counted and fails nothing: the item then expires. The item of a start that was
 * late to write its task (`markRunningLate`) is removed only by those who know this task.
 */
export const removeRequest = async (
  { extractionId, requestId, taskId }: Pick<Extraction, 'extractionId' | 'requestId' | 'taskId'>,
  { requests, telemetry }: RequestDeps,
): Promise<void> => {
  try {
    await requests.remove(requestId, taskId);
  } catch (error) {
    telemetry.count('RequestDataNotRemoved', { extractionId });
    telemetry.failure('The sealed data of a request could not be removed.', error, { extractionId });
  }
};
