import type { LineEntry, StoredEntry } from '../rate-limit/start-line.ts';
import type { Extraction } from './record.ts';

/** All in seconds. `infra/settings/settings.ts` has their defaults and reasons, and `infra/settings/config.ts` validates them. */
export type Timings = {
  /** How long after `requestedAt` a start may be tried. */
  readonly startWindow: number;
  /** How long an extraction may wait in line. The start window does not count this time. */
  readonly maxWait: number;
  /** The timeout of start-task. An older start attempt is stale. */
  readonly startTimeout: number;
  /** The timeout of reconcile-extraction. */
  readonly reconcileTimeout: number;
  /** From `requestedAt` to `deadlineAt`, without the time in line. */
  readonly deadline: number;
  /** How long the execution may run after the deadline. */
  readonly machineSlack: number;
  /** The first pause between two reads of a task, or two attempts to collect. */
  readonly pollFirst: number;
  /** The longest pause between two reads of a running task. */
  readonly pollEvery: number;
  /** How long after the outcome results are collected, before `collectionError` is written. */
  readonly collectFor: number;
  /** How long after the outcome incomplete results are read again. */
  readonly resultsLag: number;
  /** How long after `TIMED_OUT` the provider is read for a correction. */
  readonly grace: number;
  /** From the close until TTL removes the record. */
  readonly recordRetention: number;
};

const names = [
  'startWindow',
  'maxWait',
  'startTimeout',
  'reconcileTimeout',
  'deadline',
  'machineSlack',
  'pollFirst',
  'pollEvery',
  'collectFor',
  'resultsLag',
  'grace',
  'recordRetention',
] as const satisfies readonly (keyof Timings)[];

/**
 * Parses the environment variable `TIMINGS`. Throws a SyntaxError or RangeError if it is malformed. It uses no valibot, which would enlarge
 * the webhook's bundle.
 */
export const parseTimings = (json: string): Timings => {
  const timings = JSON.parse(json) as Timings;
  for (const name of names) {
    if (!Number.isInteger(timings[name]) || timings[name] < 1)
      throw new RangeError(`TIMINGS has no ${name}.`);
  }
  if (Object.keys(timings).length > names.length) throw new RangeError('TIMINGS has a name that is unknown.');
  return timings;
};

/**
 * How often one execution waits in line at most. This limits its history (`maxHistoryEvents` in infra/settings/config.ts). A start that was
 * refused 400 times has been first in line for hours. It then ends as one that has waited for `maxWait`.
 */
export const maxEntries = 400;

/** `time` plus a number of seconds, as ISO 8601 with milliseconds. Throws a RangeError if `time` is not a time. */
export const plusSeconds = (time: string | Date, seconds: number): string =>
  new Date(new Date(time).getTime() + seconds * 1000).toISOString();

/** The end of the start window. */
export const windowEnd = (requestedAt: string, { startWindow }: Pick<Timings, 'startWindow'>): string =>
  plusSeconds(requestedAt, startWindow);

/** Whether a start may no longer be made. */
export const isWindowOver = (
  { requestedAt }: Pick<Extraction, 'requestedAt'>,
  now: Date,
  timings: Pick<Timings, 'startWindow'>,
): boolean => now.toISOString() >= windowEnd(requestedAt, timings);

/** How long a start has waited in line so far, in milliseconds. The start window does not count this time. */
export const waitedMs = (
  entry: Pick<LineEntry, 'waitedMs' | 'waitingSince'> | undefined,
  now: Date,
): number => {
  if (entry === undefined) return 0;
  const since = entry.waitingSince === undefined ? now.getTime() : Date.parse(entry.waitingSince);
  return entry.waitedMs + Math.max(0, now.getTime() - since);
};

/** The window in which a start may be tried. */
export type StartWindow = {
  /** In seconds from the request. */
  readonly startWindow: number;
  readonly waitedMs: number;
  /** It has waited for `maxWait`, or as often as an execution may. */
  readonly hasWaitedTooLong: boolean;
};

/**
 * The wait of a start in line, as its invoker knows it, whatever the item still shows. `goes-on`: unless the item shows that it has ended, the
 * window lasts until the start has waited for `maxWait` in all. `ends-now`: a wait that the item shows has just ended. `ended`: it has ended
 * before, and only earlier waits count.
 */
type Wait = 'goes-on' | 'ends-now' | 'ended';

/**
 * The window of a start, without its time in line. The start itself, Reconcile and the tools all use this function. An item without a
 * callback token is not visible to the dispatcher: it was released, or its process ended before it was in line. If its wait goes on, its
 * window is one start window from its release, or from the begin of its wait.
 *
 * @param entry its item in the line, if any
 * @param entries how often its execution has been in line, as far as the invoker knows
 */
export const startWindowOf = (
  entry: Pick<StoredEntry, 'waitedMs' | 'waitingSince' | 'callbackToken' | 'releasedAt'> | undefined,
  {
    requestedAt,
    wait,
    entries = 0,
  }: { readonly requestedAt: string; readonly wait: Wait; readonly entries?: number },
  now: Date,
  { startWindow, maxWait }: Pick<Timings, 'startWindow' | 'maxWait'>,
): StartWindow => {
  const waited = wait === 'ended' ? (entry?.waitedMs ?? 0) : waitedMs(entry, now);
  const hasWaitedTooLong = waited >= maxWait * 1_000 || entries >= maxEntries;
  if (wait !== 'goes-on' || entry?.waitingSince === undefined) {
    return { startWindow: startWindow + waited / 1_000, waitedMs: waited, hasWaitedTooLong };
  }
  const secondsTo = (time: string): number => (Date.parse(time) - Date.parse(requestedAt)) / 1_000;
  const until =
    entry.callbackToken === undefined
      ? secondsTo(entry.releasedAt ?? entry.waitingSince) + startWindow
      : secondsTo(entry.waitingSince) + maxWait - entry.waitedMs / 1_000;
  return { startWindow: until, waitedMs: waited, hasWaitedTooLong };
};

/** Seconds from `since` to `now`. Throws a RangeError if `since` is not a time. */
export const secondsSince = (since: string, now: Date): number => {
  const milliseconds = now.getTime() - new Date(since).getTime();
  if (Number.isNaN(milliseconds)) throw new RangeError('Invalid time value');
  return milliseconds / 1000;
};

// The times of each phase (phase.ts) that are needed here.

type Settled = { readonly settledAt: string };
type Claimed = { readonly startingAt: string };
type Read =
  | { readonly phase: 'running'; readonly deadlineAt: string }
  | (Settled & { readonly phase: 'grace' | 'collecting' });

/** The end of the time in which results may lag behind the outcome. After it, results are stored as they are. */
export const lagEnd = ({ settledAt }: Settled, { resultsLag }: Timings): string =>
  plusSeconds(settledAt, resultsLag);

/**
 * The longest delay of an SQS message, in seconds: "Valid values: 0 to 900"
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html). The sweep handles what is due later.
 */
export const maxDelaySeconds = 900;

/** The delay of a message for `dueAt`: whole seconds from `now`, at least 0. */
export const delayUntil = (dueAt: string, now: Date): number =>
  Math.max(0, Math.ceil((new Date(dueAt).getTime() - now.getTime()) / 1000));

/** The time until which a start attempt may make its start call: its `STARTING` write plus the timeout of start-task. */
export const startUntil = ({ startingAt }: Claimed, { startTimeout }: Timings): string =>
  plusSeconds(startingAt, startTimeout);

/**
 * Whether a start attempt can no longer make its start call, because Lambda has ended its function. Another process may settle only a stale
 * start.
 */
export const isStartStale = (record: Claimed, now: Date, timings: Timings): boolean =>
  now.toISOString() > startUntil(record, timings);

/** The time until which the task is read: for its final status, a correction, or its results. */
export const readUntil = (record: Read, { grace, collectFor }: Timings): string => {
  if (record.phase === 'running') return record.deadlineAt;
  return plusSeconds(record.settledAt, record.phase === 'grace' ? grace : collectFor);
};

export const isReadTimeOver = (record: Read, now: Date, timings: Timings): boolean =>
  now.toISOString() >= readUntil(record, timings);

/**
 * In seconds. A sweep finds a due record within one interval. If one sweep fails or is cut short, it takes two. After three, 15 minutes by
 * default, the sweeps do not work.
 */
export const overdueAfterSeconds = (sweepEveryMinutes: number): number => 3 * sweepEveryMinutes * 60;

/** Whether an open record is overdue. From `dueAt` until then it is only due. */
export const isOverdue = (
  { dueAt }: Pick<Extraction, 'dueAt'>,
  now: Date,
  sweepEveryMinutes: number,
): boolean => dueAt !== undefined && secondsSince(dueAt, now) > overdueAfterSeconds(sweepEveryMinutes);
