import type { LineEntry, StoredEntry } from '../rate-limit/start-line.ts';
import type { Timings } from './deadlines.ts';

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
  readonly hasWaitedTooLong: boolean;
};

/**
 * The window of a start, without its time in line. The start itself, Reconcile and the tools all use this function.
 *
 * @param entry its item in the line, if any
 * @param isWaiting whether it is in line now, as far as the invoker knows. If so, its window lasts until it has waited for `maxWait` in
 * all. If not, a wait that the item shows is over, or has just ended. An item without a callback token is not visible to the dispatcher: it
 * was just released, or its process ended before it was in line. Then its window is one start window from the begin of its wait.
 */
export const startWindowOf = (
  entry: Pick<StoredEntry, 'waitedMs' | 'waitingSince' | 'callbackToken'> | undefined,
  { requestedAt, isWaiting }: { readonly requestedAt: string; readonly isWaiting: boolean },
  now: Date,
  { startWindow, maxWait }: Pick<Timings, 'startWindow' | 'maxWait'>,
): StartWindow => {
  const waited = waitedMs(entry, now);
  const hasWaitedTooLong = waited >= maxWait * 1_000;
  if (!isWaiting || entry?.waitingSince === undefined) {
    return { startWindow: startWindow + waited / 1_000, waitedMs: waited, hasWaitedTooLong };
  }
  const since = (Date.parse(entry.waitingSince) - Date.parse(requestedAt)) / 1_000;
  const until =
    entry.callbackToken === undefined ? since + startWindow : since + maxWait - entry.waitedMs / 1_000;
  return { startWindow: until, waitedMs: waited, hasWaitedTooLong };
};
