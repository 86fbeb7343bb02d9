import { laneOf, type Place } from './start-line.ts';

/** Who waits of one caller and priority, the oldest request first. */
export type LineLane = Pick<Place, 'caller' | 'priority'> & { readonly waiting: readonly Place[] };

/** The line, and how fast it is released. */
export type Line = {
  readonly lanes: readonly LineLane[];
  /** Starts a second. Absent: there is no limit. */
  readonly perSecond?: number;
  /** The provider asked for no start before, as an ISO time. */
  readonly notBefore?: string;
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
 * How many starts are made before this one, as lanes share the rate by turns: of each other lane no more than stand before it in its
 * own. Undefined if it does not wait.
 */
export const startsBefore = (lanes: readonly LineLane[], extractionId: string): number | undefined => {
  const own = lanes.find(({ waiting }) => waiting.some((one) => one.extractionId === extractionId));
  if (own === undefined) return undefined;
  const place = own.waiting.findIndex((one) => one.extractionId === extractionId);
  const others = lanes.filter((lane) => lane !== own);
  return others.reduce((sum, { waiting }) => sum + Math.min(waiting.length, place + 1), place);
};

/**
 * When a start that waits will be made, as an ISO time: from its place and the rate, if both stay. Undefined if it does not wait, or
 * there is no rate, as for what only a breaker holds, or starts are paused.
 */
export const expectedStartAt = (
  { lanes, perSecond, notBefore, isPaused = false }: Line,
  extractionId: string,
  now: Date,
): string | undefined => {
  const before = startsBefore(lanes, extractionId);
  if (before === undefined || perSecond === undefined || isPaused) return undefined;
  const from = Math.max(now.getTime(), Date.parse(notBefore ?? now.toISOString()));
  return new Date(from + ((before + 1) * 1_000) / perSecond).toISOString();
};
