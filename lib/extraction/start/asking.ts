import {
  type LineEntry,
  type StartLineStore,
  type StoredEntry,
  slotOf,
} from '../../rate-limit/start-line.ts';
import { plusSeconds, startWindowOf, type Timings, waitedMs } from '../deadlines.ts';
import { breakerSubjectOf, type Extraction } from '../record.ts';

/** What the machine passes for this attempt of the state StartTask (`StartInput`). */
type Attempt = {
  readonly requestId: string;
  /** How often the execution has been in line. */
  readonly entry: number;
  readonly callbackAttempt: number;
  readonly isReleased: boolean;
};

type AskingDeps = {
  readonly startLine: { readonly line: Pick<StartLineStore, 'find'> };
  readonly now: () => Date;
  readonly timings: Timings;
};

/** A start that asks to go, and its wait in line so far. */
export type Asking = {
  readonly record: Extraction;
  readonly attempt: Attempt;
  /** Its item in the line, if it has waited. */
  readonly item: StoredEntry | undefined;
  /** The timings, with a start window that does not count the wait. */
  readonly timings: Timings;
  /** The new deadline, if the start has waited. */
  readonly deadlineAt: string | undefined;
  readonly hasWaitedTooLong: boolean;
};

/** Reads the wait of a start. Throws what the store throws. */
export const readAsking = async (record: Extraction, attempt: Attempt, deps: AskingDeps): Promise<Asking> => {
  const { startLine, now, timings } = deps;
  const { entry, requestId } = attempt;
  const found = entry === 0 ? undefined : await startLine.line.find(record.extractionId);
  const item = found?.requestId === requestId ? found : undefined;
  const { requestedAt } = record;
  const window = startWindowOf(item, { requestedAt, wait: 'ends-now', entries: entry }, now(), timings);
  const waited = window.waitedMs / 1_000;
  return {
    record,
    attempt,
    item,
    timings: { ...timings, startWindow: window.startWindow },
    deadlineAt: waited === 0 ? undefined : plusSeconds(requestedAt, waited + timings.deadline),
    hasWaitedTooLong: window.hasWaitedTooLong,
  };
};

/** How often it was refused because of the rate before this attempt. */
export const refusalsOf = ({ item }: Asking): number => item?.refusals ?? 0;

/**
 * After this many refusals of one start, the provider probably refuses its user for another reason, without naming it. If 5 % of all starts
 * are refused because of the rate, three refusals in a row happen to one start in 8,000.
 */
const refusalsOfTheRate = 2;

/** In seconds. Each pause is twice the last one, up to `maxPause`. So 6 h have some 360 tries. */
const [firstPause, maxPause] = [5, 60];

/** Longer than providers ask for in practice. One wrong header must not hold a start for a day. */
const maxRetryAfterMs = 3_600_000;

/** Whether a refusal shows something about the rate, if the start was refused this often before. */
export const showsRate = (refusals: number): boolean => refusals < refusalsOfTheRate;

/** When a refused start may be tried again, by its `Retry-After`, in milliseconds. At most an hour from now. */
export const boundedRetryAt = (notBefore: string | undefined, now: Date): number | undefined =>
  notBefore === undefined ? undefined : Math.min(Date.parse(notBefore), now.getTime() + maxRetryAfterMs);

/**
 * The time that decides the place of a start. A refused start keeps the time of its request, so it is first again. If the provider asked it
 * to wait, or refused it several times, others go first until then.
 */
export const placeAt = (
  requestedAt: string,
  { refusals, notBefore }: { readonly refusals: number; readonly notBefore?: string | undefined },
  now: Date,
): string => {
  const again = refusals - refusalsOfTheRate;
  const pauseMs = again <= 0 ? 0 : 1_000 * Math.min(maxPause, firstPause * 2 ** (again - 1));
  const until = Math.max(now.getTime() + pauseMs, boundedRetryAt(notBefore, now) ?? 0);
  return until <= now.getTime() ? requestedAt : new Date(until).toISOString();
};

const day = 86_400;

/** Its item in the line, with its wait so far. With `waits`, a new wait begins now. Otherwise its start window counts again. */
export const entryOf = (
  { record, attempt, item }: Asking,
  {
    waits,
    refusals,
    notBefore,
  }: { readonly waits: boolean; readonly refusals: number; readonly notBefore?: string | undefined },
  { now, timings }: Pick<AskingDeps, 'now' | 'timings'>,
): LineEntry => {
  const { extractionId, requestId, requestedAt, priority = 'interactive' } = record;
  const { caller, group } = breakerSubjectOf(record);
  const time = now();
  const at = placeAt(requestedAt, { refusals, notBefore }, time);
  const keptUntil = plusSeconds(time, timings.maxWait + timings.startWindow + day);
  return {
    extractionId,
    requestId,
    attempt: attempt.callbackAttempt,
    slot: slotOf({ caller, priority, group, at, extractionId }),
    ...(waits ? { waitingSince: time.toISOString() } : {}),
    waitedMs: Math.round(waitedMs(item, time)),
    ...(refusals === 0 ? {} : { refusals }),
    expiresAt: Math.ceil(Date.parse(keptUntil) / 1_000),
  };
};
