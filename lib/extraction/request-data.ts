import { createHash } from 'node:crypto';
import { defined } from '../defined.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { plusSeconds, type Timings } from './deadlines.ts';
import { canonicalJson } from './keyed-mac.ts';
import type { Extraction } from './record.ts';
import type { RequestStore, StoredRequest } from './store.ts';

/**
 * The sealed item of a request: what binds it to its record, how long it is kept, and after what it is removed (design, "Forgotten once
 * used"). Callers say what happened. Only this file decides what follows for the item.
 */

/** The record as it was left. Of an erasure its request alone, because the record may be gone. */
type Left = Pick<Extraction, 'requestId'> &
  Partial<Pick<Extraction, 'method' | 'status' | 'dueShard' | 'taskId'>>;

type Rule = (record: Left) => boolean;
type Rules = { readonly [Method in Extraction['method']]: Rule };

/** Total, because a newer version may have left a record with another method. */
const ruleFor = ({ method }: Left, rules: Rules): Rule =>
  method === 'consent' ? rules.consent : rules.credentials;

const always: Rule = () => true;
const never: Rule = () => false;

/**
 * When nothing needs the item any more. Each poll of an extraction by consent does, also after the end of grace: a read that was under
 * way when another one closed the record may still correct it, and the results are then collected. So the item of a consent that
 * stays `TIMED_OUT` is left to expire.
 */
const done: Rules = {
  credentials: ({ status }) => status !== 'REQUESTED' && status !== 'STARTING',
  consent: ({ status, dueShard }) => dueShard === undefined && status !== 'TIMED_OUT',
};

export const isRequestDone = (record: Extraction): boolean => ruleFor(record, done)(record);

/** Once start-task has the task, it removes the credentials itself. So a poll costs no removal. */
const doneWithoutStart: Rules = {
  credentials: ({ status }) => status === 'NOT_STARTED' || status === 'UNCONFIRMED',
  consent: done.consent,
};

const onEach = (rule: Rule): Rules => ({ credentials: rule, consent: rule });

/** What happened, and of which records the item is then removed. */
const removedAfter = {
  /** Intake found the record of another request under the same key. */
  'another-request': onEach(always),
  /** An invocation ended, by who asked. */
  'ended-by-start': done,
  'ended-by-machine': doneWithoutStart,
  'ended-by-queue': doneWithoutStart,
  'ended-by-operator': doneWithoutStart,
  'ended-by-cancel': doneWithoutStart,
  /** receive-webhook has no access to requests. */
  'ended-by-webhook': onEach(never),
  /** Reconcile adopted the task: start-task ended before its link, and so before it removed the item. A consent has no such task. */
  'task-adopted': { credentials: always, consent: never },
  /** A late start put the item back, and the record refused its `RUNNING`. */
  'late-start-refused': { credentials: never, consent: always },
  /** The record is about to be erased, or is not there. */
  erased: onEach(always),
  /** A start of a backup was restored as `UNCONFIRMED`. */
  restored: onEach(always),
} as const satisfies Readonly<Record<string, Rules>>;

type ItemEvent = keyof typeof removedAfter;

/**
 * The item that a late start puts back before its record is `RUNNING` again. Another process has settled the start as stale, and may
 * still be about to remove the item. It does not know the `taskId`, and so leaves an item that has it. By credentials there is none,
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

/** Removes the item if what happened has made it unneeded. Throws what the store throws. */
export const removeRequest = async (
  event: ItemEvent,
  record: Left,
  requests: Pick<RequestStore, 'remove'>,
): Promise<void> => {
  const { requestId, taskId } = record;
  if (ruleFor(record, removedAfter[event])(record))
    await requests.remove(requestId, event === 'erased' ? 'any task' : { taskId });
};

/** The same by a function. A failure is counted and fails nothing: the item then expires. */
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
