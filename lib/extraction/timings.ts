export type { Timings } from './parse-timings.ts';

/** Moves an ISO 8601 time by a number of seconds, keeping the milliseconds. */
export const plusSeconds = (time: string | Date, seconds: number): string =>
  new Date(new Date(time).getTime() + seconds * 1000).toISOString();

/** Seconds from `since` to `now`. Throws a RangeError where `since` is no time. */
export const secondsSince = (since: string, now: Date): number => {
  const milliseconds = now.getTime() - new Date(since).getTime();
  if (Number.isNaN(milliseconds)) throw new RangeError('Invalid time value');
  return milliseconds / 1000;
};

/**
 * When to look again at something that has been waiting since `since`: wait as long again as it has waited
 * already, between `floor` and `ceiling` seconds. That doubles the pause each time without keeping a counter.
 */
export const nextReconcileAt = (since: string, now: Date, floor: number, ceiling: number): string => {
  const waited = (now.getTime() - new Date(since).getTime()) / 1000;
  return plusSeconds(now, Math.min(Math.max(waited, floor), ceiling));
};
