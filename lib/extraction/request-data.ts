import { createHash } from 'node:crypto';
import type { Telemetry } from '../observability/telemetry.ts';
import { plusSeconds, type Timings } from './deadlines.ts';
import { type Extraction, isRequestDone } from './record.ts';
import { canonicalJson } from './refused-credentials.ts';
import type { RequestStore, StoredRequest } from './store.ts';

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
  const { maxWait, startWindow, startTimeout, grace, collectFor } = timings;
  return method === 'credentials'
    ? plusSeconds(requestedAt, maxWait + startWindow + startTimeout + hour)
    : plusSeconds(deadlineAt, maxWait + grace + collectFor + day);
};

const epochSeconds = (time: string): number => Math.ceil(new Date(time).getTime() / 1000);

/**
 * What the sealed data of a record are for: SHA-256 over caller and request, in hex. It is bound to the ciphertext, so that nobody who can
 * write records has the credentials sent to another bank, for other actions, or shown to another caller.
 */
export const purposeDigest = (record: Extraction): string => {
  const { method, requestedBy } = record;
  const request =
    record.method === 'consent'
      ? [record.product, record.consentId, record.variant]
      : [record.entity, record.actions];
  return createHash('sha256')
    .update(canonicalJson([method, requestedBy, ...request]))
    .digest('hex');
};

/** The `expiresAt` with which intake writes an item, in epoch seconds. */
export const requestExpiry = (
  record: Pick<Extraction, 'method' | 'requestedAt' | 'deadlineAt'>,
  timings: Timings,
): number => epochSeconds(neededUntil(record, timings));

/**
 * Whether the item may expire before a reconcile at `dueAt`. By consent, it outlives the deadline by a day, whatever the settings
 * were when intake wrote it. So no poll before the deadline has to read when it expires.
 */
const mayExpireBefore = (dueAt: string, record: Extraction): boolean =>
  !isRequestDone(record) && (record.method === 'credentials' || dueAt > record.deadlineAt);

/**
 * The `expiresAt` with which an item outlives a reconcile at `dueAt`. A pause, or settings that have become longer, may hold the
 * record beyond the moment that intake has written. Undefined if that moment is late enough.
 */
const extendedExpiry = ({ expiresAt }: StoredRequest, dueAt: string): number | undefined =>
  expiresAt >= epochSeconds(plusSeconds(dueAt, hour)) ? undefined : epochSeconds(plusSeconds(dueAt, day));

type ItemDeps = { readonly requests?: RequestStore; readonly telemetry: Telemetry };

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

/** Keeps the item of the request until the record is reconciled again at `dueAt`. A failure is logged and fails nothing. */
export const keepRequest = async (
  record: Extraction,
  dueAt: string,
  { requests, telemetry }: ItemDeps,
): Promise<void> => {
  if (requests === undefined || !mayExpireBefore(dueAt, record)) return;
  try {
    const item = await findRequest(record, { requests });
    const expiry = item === undefined ? undefined : extendedExpiry(item, dueAt);
    if (expiry !== undefined) await requests.extend(record.requestId, expiry);
  } catch (error) {
    telemetry.failure('The expiry of a request could not be moved.', error, record);
  }
};

/**
 * Removes the item of a request. A failure is counted and fails nothing: the item then expires. An item that was put back has a
 * `taskId` (`startWriter`), and stays if this process does not know that task.
 */
export const removeRequest = async (
  { extractionId, requestId, taskId }: Pick<Extraction, 'extractionId' | 'requestId' | 'taskId'>,
  { requests, telemetry }: ItemDeps,
): Promise<void> => {
  try {
    await requests?.remove(requestId, taskId);
  } catch (error) {
    telemetry.count('RequestDataNotRemoved', { extractionId });
    telemetry.failure('The sealed data of a request could not be removed.', error, { extractionId });
  }
};
