import type { LineEntry } from '../rate-limit/start-line.ts';
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
 * Otherwise what the item shows of a wait under way is over, or has just ended.
 */
export const startWindowOf = (
  entry: Pick<LineEntry, 'waitedMs' | 'waitingSince'> | undefined,
  { requestedAt, isWaiting }: { readonly requestedAt: string; readonly isWaiting: boolean },
  now: Date,
  { startWindow, maxWait }: Pick<Timings, 'startWindow' | 'maxWait'>,
): StartWindow => {
  const waited = waitedMs(entry, now);
  const hasWaitedTooLong = waited >= maxWait * 1_000;
  if (!isWaiting || entry?.waitingSince === undefined) {
    return { startWindow: startWindow + waited / 1_000, waitedMs: waited, hasWaitedTooLong };
  }
  const before = Date.parse(entry.waitingSince) - Date.parse(requestedAt) - entry.waitedMs;
  return { startWindow: maxWait + before / 1_000, waitedMs: waited, hasWaitedTooLong };
};
