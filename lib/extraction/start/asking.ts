import {
  type LineEntry,
  type StartLineStore,
  type StoredEntry,
  slotOf,
} from '../../rate-limit/start-line.ts';
import { maxEntries, plusSeconds, type Timings } from '../deadlines.ts';
import { breakerSubjectOf, type Extraction } from '../record.ts';
import { startWindowOf, waitedMs } from '../start-window.ts';

/** What the machine says about this attempt of the state StartTask (`StartInput`). */
type Attempt = {
  readonly requestId: string;
  readonly entry?: number;
  readonly callbackAttempt: number;
  readonly isReleased?: boolean;
};

type AskingDeps = {
  readonly startLine: { readonly line: Pick<StartLineStore, 'find'> };
  readonly now: () => Date;
  readonly timings: Timings;
};

/** A start that asks, and what is known of its wait in line until now. */
export type Asking = {
  readonly record: Extraction;
  readonly attempt: Attempt;
  /** Its item, if it has waited. */
  readonly item: StoredEntry | undefined;
  /** With the start window that does not count its wait. */
  readonly timings: Timings;
  /** The deadline of one that has waited. */
  readonly deadlineAt: string | undefined;
  /** For `maxWait`, or as often as an execution may wait. */
  readonly hasWaitedTooLong: boolean;
};

/** Reads what is known of the wait. Throws what the store throws. */
export const readAsking = async (record: Extraction, attempt: Attempt, deps: AskingDeps): Promise<Asking> => {
  const { startLine, now, timings } = deps;
  const { entry = 0, requestId } = attempt;
  const found = entry === 0 ? undefined : await startLine.line.find(record.extractionId);
  const item = found?.requestId === requestId ? found : undefined;
  const { requestedAt } = record;
  const window = startWindowOf(item, { requestedAt, isWaiting: false }, now(), timings);
  const waited = window.waitedMs / 1_000;
  return {
    record,
    attempt,
    item,
    timings: { ...timings, startWindow: window.startWindow },
    deadlineAt: waited === 0 ? undefined : plusSeconds(requestedAt, waited + timings.deadline),
    hasWaitedTooLong: window.hasWaitedTooLong || entry >= maxEntries,
  };
};

/** How often the rate has refused it before this attempt. */
export const refusalsOf = ({ item }: Asking): number => item?.refusals ?? 0;

/**
 * A provider may refuse one user for a reason of its own, and not say so. After so many refusals of one start it is taken for that: while
 * 5 % of all are refused, three in a row are one start in 8,000.
 */
const refusalsOfTheRate = 2;

/** In seconds. Each pause is twice the one before it, up to the last. With that again and again, 6 h have some 360 tries. */
const [firstPause, maxPause] = [5, 60];

/** Longer than a provider asks for in practice. One wrong header must not hold a start for a day. */
const maxRetryAfterMs = 3_600_000;

/** Whether a start that was refused so often before shows how fast the provider takes starts. */
export const showsRate = (refusals: number): boolean => refusals < refusalsOfTheRate;

/** When a refused start may be tried again, by the `Retry-After` of its refusal, in milliseconds. An hour from now at most. */
export const boundedRetryAt = (notBefore: string | undefined, now: Date): number | undefined =>
  notBefore === undefined ? undefined : Math.min(Date.parse(notBefore), now.getTime() + maxRetryAfterMs);

/**
 * The time that gives a start its place. A refused one keeps that of its request, so it is first again. If the provider asked it to wait, or
 * refuses it again and again, it lets others pass until then.
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

/** Its item in the line, with what it has waited until now. `waits`: from now on. Otherwise its start window counts again. */
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
