import { laneOf, type Place } from '../../rate-limit/start-line.ts';

/** The starts in line of one caller and priority, the oldest request first. */
export type LineLane = Pick<Place, 'caller' | 'priority'> & { readonly waiting: readonly Place[] };

export type Line = {
  readonly lanes: readonly LineLane[];
  /** In starts a second. Absent if there is no limit. */
  readonly perSecond?: number;
  /** An operator has paused starts, so it is unknown when they continue. */
  readonly isPaused?: boolean;
};

/** Groups the places in line by lane. The index sorts them by group too. */
export const lanesOf = (places: readonly Place[]): readonly LineLane[] =>
  [...Map.groupBy(places, laneOf).values()].flatMap((lane) => {
    const [first] = lane;
    if (first === undefined) return [];
    const waiting = lane.toSorted((one, other) => (one.at < other.at ? -1 : 1));
    return [{ caller: first.caller, priority: first.priority, waiting }];
  });

/**
 * How many starts are made before this one. The priorities of one caller take turns: each other lane of its caller makes at most one more
 * start than stand before it in its own lane. Callers take turns too: each other caller makes at most one more than its own caller does
 * before it. Undefined if it does not wait.
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
 * When a waiting start will be made, as an ISO time, if its place and the rate stay the same. Undefined if it does not wait, if there is no
 * rate (only a breaker holds it), or if starts are paused.
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
