import { laneOf, type Place } from '../../rate-limit/start-line.ts';

/** Who waits of one caller and priority, the oldest request first. */
export type LineLane = Pick<Place, 'caller' | 'priority'> & { readonly waiting: readonly Place[] };

/** The line, and how fast it is released. */
export type Line = {
  readonly lanes: readonly LineLane[];
  /** Starts a second. Absent: there is no limit. */
  readonly perSecond?: number;
  /** An operator paused starts, so that nobody knows when they go on. */
  readonly isPaused?: boolean;
};

/** Those in line by their lanes. In the index they are by group, too. */
export const lanesOf = (places: readonly Place[]): readonly LineLane[] =>
  [...Map.groupBy(places, laneOf).values()].flatMap((lane) => {
    const [first] = lane;
    if (first === undefined) return [];
    const waiting = lane.toSorted((one, other) => (one.at < other.at ? -1 : 1));
    return [{ caller: first.caller, priority: first.priority, waiting }];
  });

/**
 * How many starts are made before this one: callers share the rate by turns, and the priorities of one caller what he gets. So of each other
 * lane of its caller no more than stand before it in its own, and of each other caller no more than of its own. Undefined if it does not wait.
 */
export const startsBefore = (lanes: readonly LineLane[], extractionId: string): number | undefined => {
  const own = lanes.find(({ waiting }) => waiting.some((one) => one.extractionId === extractionId));
  if (own === undefined) return undefined;
  const place = own.waiting.findIndex((one) => one.extractionId === extractionId);
  const sizes = Map.groupBy(
    lanes.filter((lane) => lane !== own),
    ({ caller }) => caller,
  );
  const atMost = (size: number, max: number): number => Math.min(size, max + 1);
  const beside = (sizes.get(own.caller) ?? []).reduce(
    (sum, { waiting }) => sum + atMost(waiting.length, place),
    place,
  );
  sizes.delete(own.caller);
  return [...sizes.values()].reduce((sum, others) => {
    const waiting = others.reduce((size, lane) => size + lane.waiting.length, 0);
    return sum + atMost(waiting, beside);
  }, beside);
};

/**
 * When a start that waits will be made, as an ISO time: from its place and the rate, if both stay. Undefined if it does not wait, or
 * there is no rate, as for what only a breaker holds, or starts are paused.
 */
export const expectedStartAt = (
  { lanes, perSecond, isPaused = false }: Line,
  extractionId: string,
  now: Date,
): string | undefined => {
  const before = startsBefore(lanes, extractionId);
  if (before === undefined || perSecond === undefined || isPaused) return undefined;
  return new Date(now.getTime() + ((before + 1) * 1_000) / perSecond).toISOString();
};
