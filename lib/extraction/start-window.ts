import type { LineEntry, StoredEntry } from '../rate-limit/start-line.ts';
import type { Timings } from './deadlines.ts';

/** How long a start has waited by now, in milliseconds. The start window does not count this time. */
export const waitedMs = (
  entry: Pick<LineEntry, 'waitedMs' | 'waitingSince'> | undefined,
  now: Date,
): number => {
  if (entry === undefined) return 0;
  const since = entry.waitingSince === undefined ? now.getTime() : Date.parse(entry.waitingSince);
  return entry.waitedMs + Math.max(0, now.getTime() - since);
};

/** Until when a start may be tried, and whether it has waited in line for too long. */
export type StartWindow = {
  /** In seconds from the request. */
  readonly startWindow: number;
  readonly waitedMs: number;
  readonly hasWaitedTooLong: boolean;
};

/**
 * The window of a start. It does not count the time in line, and everybody takes it from here: the start itself, Reconcile, and the tools.
 *
 * @param entry its item in the line, if it has one
 * @param isWaiting whether it is in line now, as far as the invoker knows. It has its turn until it has waited for `maxWait` in all.
 * Otherwise what the item shows of a wait under way is over, or has just ended. Without a callback token, the dispatcher does not see it: it was
 * just released, or its process ended before it was in line. So it waits for a start window at most.
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
