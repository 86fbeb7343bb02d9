import { createHash } from 'node:crypto';
import { defined } from '../defined.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { plusSeconds, type Timings } from './deadlines.ts';
import { canonicalJson } from './keyed-mac.ts';
import type { Extraction } from './record.ts';
import type { RequestStore, StoredRequest } from './store.ts';

/**
 * The sealed item of a request: what binds it to its record, how long it is kept, and when it is removed (design, "Forgotten once used").
 * Callers pass what happened. Only this file decides what follows for the item.
 */

/** The record after the event. For an erasure it is only the request, because the record may be gone. */
type Left = Pick<Extraction, 'requestId'> &
  Partial<Pick<Extraction, 'method' | 'status' | 'dueShard' | 'taskId'>>;

type Rule = (record: Left) => boolean;
type Rules = { readonly [Method in Extraction['method']]: Rule };

/** Accepts any method, because a newer version may have left a record with another one. */
const ruleFor = ({ method }: Left, rules: Rules): Rule =>
  method === 'consent' ? rules.consent : rules.credentials;

const always: Rule = () => true;
const never: Rule = () => false;

/**
 * When nothing needs the item any more. Each poll of an extraction by consent needs it, even after grace: a read that began before another
 * process closed the record may still correct it, and the results are then collected. So the item of a consent that stays `TIMED_OUT` is
 * not removed, and expires.
 */
const done: Rules = {
  credentials: ({ status }) => status !== 'REQUESTED' && status !== 'STARTING',
  consent: ({ status, dueShard }) => dueShard === undefined && status !== 'TIMED_OUT',
};

export const isRequestDone = (record: Extraction): boolean => ruleFor(record, done)(record);

/** After it got the task, start-task removes the credentials itself. So a poll needs no removal. */
const doneWithoutStart: Rules = {
  credentials: ({ status }) => status === 'NOT_STARTED' || status === 'UNCONFIRMED',
  consent: done.consent,
};

const onEach = (rule: Rule): Rules => ({ credentials: rule, consent: rule });

/** The events, and for each of them the records whose item is then removed. */
const removedAfter = {
  /** Intake found the record of another request under the same key. */
  'another-request': onEach(always),
  /** An invocation ended, named by its invoker. */
  'ended-by-start': done,
  'ended-by-machine': doneWithoutStart,
  'ended-by-queue': doneWithoutStart,
  'ended-by-operator': doneWithoutStart,
  'ended-by-cancel': doneWithoutStart,
  /** receive-webhook has no access to requests. */
  'ended-by-webhook': onEach(never),
  /** Reconcile adopted the task, because start-task ended before it linked the task and removed the item. A consent has no such task. */
  'task-adopted': { credentials: always, consent: never },
  /** A late start put the item back, and the record then refused `RUNNING`. */
  'late-start-refused': { credentials: never, consent: always },
  /** The record is about to be erased, or does not exist. */
  erased: onEach(always),
  /** A restore wrote a start of the backup as `UNCONFIRMED`. */
  restored: onEach(always),
} as const satisfies Readonly<Record<string, Rules>>;

type ItemEvent = keyof typeof removedAfter;

/**
 * The item that a late start puts back before its record is `RUNNING` again. Another process settled the start as stale, and may still
 * remove the item. That process does not know the `taskId`, so it leaves an item that contains it. For credentials nothing is put back,
 * because they have been sent.
 */
export const itemToPutBack = (
  { method }: Extraction,
  taskId: string | undefined,
  used: StoredRequest | undefined,
): StoredRequest | undefined =>
  method === 'consent' && used !== undefined ? { ...used, ...defined({ taskId }) } : undefined;

const hour = 3_600;
const day = 24 * hour;

/**
 * The last time at which the sealed data of a request can be needed. The item is removed when the data have been used. If the process ended
 * before that, DynamoDB removes the item within days of this time
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
 * The purpose of the sealed data of a record: SHA-256 over caller and request, in hex. It is bound to the ciphertext. So somebody who can
 * write records cannot have the credentials sent to another bank or for other actions, nor the results shown to another caller.
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

/** The `expiresAt` of an item that intake writes, in epoch seconds. */
export const requestExpiry = (
  record: Pick<Extraction, 'method' | 'requestedAt' | 'deadlineAt'>,
  timings: Timings,
): number => epochSeconds(neededUntil(record, timings));

/**
 * Whether the item may expire before a reconcile at `dueAt`. The item of a consent outlives the deadline by a day, whatever the settings
 * were when intake wrote it. So a poll before the deadline need not read its expiry.
 */
const mayExpireBefore = (dueAt: string, record: Extraction): boolean =>
  !isRequestDone(record) && (record.method === 'credentials' || dueAt > record.deadlineAt);

/**
 * A later `expiresAt`, so that the item outlives a reconcile at `dueAt`. A pause, or a setting that became longer, may hold the record
 * beyond the expiry that intake wrote. Undefined if the item lives long enough.
 */
const extendedExpiry = ({ expiresAt }: StoredRequest, dueAt: string): number | undefined =>
  expiresAt >= epochSeconds(plusSeconds(dueAt, hour)) ? undefined : epochSeconds(plusSeconds(dueAt, day));

type ItemDeps = { readonly requests?: RequestStore; readonly telemetry: Telemetry };

/**
 * Finds the item of a record's request. Undefined if there is none, or if it belongs to another extraction. The process that used the item
 * has changed the record before it removed it, so what is decided from an older record is refused. Throws what the store throws.
 */
export const findRequest = async (
  { extractionId, requestId }: Pick<Extraction, 'extractionId' | 'requestId'>,
  { requests }: { readonly requests: Pick<RequestStore, 'get'> },
): Promise<StoredRequest | undefined> => {
  const item = await requests.get(requestId);
  return item?.extractionId === extractionId ? item : undefined;
};

/** Keeps the item until the record is reconciled at `dueAt`. A failure is logged, and nothing else fails. */
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

/** Removes the item if this event has made it unneeded. Throws what the store throws. */
export const removeRequest = async (
  event: ItemEvent,
  record: Left,
  requests: Pick<RequestStore, 'remove'>,
): Promise<void> => {
  const { requestId, taskId } = record;
  if (ruleFor(record, removedAfter[event])(record))
    await requests.remove(requestId, event === 'erased' ? 'any task' : { taskId });
};

/** The same, but a failure is only counted, because the item expires. */
export const forgetRequest = async (
  event: ItemEvent,
  record: Extraction,
  { requests, telemetry }: ItemDeps,
): Promise<void> => {
  const { extractionId } = record;
  try {
    if (requests !== undefined) await removeRequest(event, record, requests);
  } catch (error) {
    telemetry.count('RequestDataNotRemoved', { extractionId });
    telemetry.failure('The sealed data of a request could not be removed.', error, { extractionId });
  }
};
