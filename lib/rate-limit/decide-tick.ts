import { type BreakerState, mayStart, turnsOf } from '../breaker/breaker-state.ts';
import { badIn, byCaller, type Calls, callerKey, callsFrom, totalOf } from './call-counts.ts';
import { chooseNext, type May, type Served } from './choose-next.ts';
import { countFromNow, judgeCalls, type RateJudgement } from './learn-rate.ts';
import { currentTimes, type PermitUpdate, stepMs } from './permit.ts';
import { hasLine, leaseOf, lineMs, maxPerSecond, type RateState, rateAt } from './rate-state.ts';
import type { InLine, Place } from './start-line.ts';

/** The time between two ticks of a dispatcher. */
export const tickMs = 1_000;

/** Without a rate, the dispatcher first releases this many starts a second. It doubles the number after ten seconds without a bad call. */
const firstPerSecond = 10;
/** The calls of this time decide whether that number doubles, and which callers wait. */
export const recentSeconds = 10;

/** After this many refused calls and no accepted one in ten seconds, a caller waits as the provider asks. */
const refusedUsers = 3;

/** How long a released start has to take its turn, before the turn is given to another one. */
const turnTakenMs = 10_000;

export type Seen = {
  readonly now: number;
  /** The id of this dispatcher. */
  readonly holder: string;
  readonly endsAt: number;
  /** The rate set by hand or by the setting, in starts a second. Undefined if none is set. */
  readonly limit: number | undefined;
  readonly isPaused: boolean;
  /** The starts in line, in the order of slots, without those that were just released. */
  readonly waiting: readonly InLine[];
  /** The calls by the second of the epoch in which they were counted. Undefined if they could not be read. Then the rate stays. */
  readonly calls: ReadonlyMap<number, Calls> | undefined;
  /** The breakers by caller. A breaker that could not be read holds nothing here, because start-task asks it again. */
  readonly breakers: ReadonlyMap<string, BreakerState>;
  /** The `next` of the permit that was seen last. */
  readonly next: number | undefined;
  readonly served: Served;
  /** When each turn of a breaker was last given, by caller and turn. */
  readonly turnsGivenAt: ReadonlyMap<string, number>;
};

export type Release = { readonly entry: InLine; readonly afterMs: number };

export type Decision = {
  /** The state to write. */
  readonly state: RateState;
  /** The update of the permit that must succeed before `releases` go. Absent if there are none. */
  readonly permits?: PermitUpdate;
  /** The starts to release at the rate. */
  readonly releases: readonly Release[];
  /** The starts to release at once, as probe turns of breakers. */
  readonly turns: readonly InLine[];
  readonly served: Served;
  readonly turnsGivenAt: ReadonlyMap<string, number>;
  readonly judgement: RateJudgement;
};

/** The calls of the last ten seconds. Empty if they could not be read. */
export const recentCalls = ({ calls = new Map(), now }: Pick<Seen, 'calls' | 'now'>): Calls =>
  callsFrom(calls, now / 1_000 - recentSeconds);

const noBreaker: BreakerState = { groups: [] };

const turnKeys = ({ caller, group }: Place, { breakers }: Seen): readonly string[] =>
  turnsOf(breakers.get(caller) ?? noBreaker, group).map((turn) => `${caller} ${turn}`);

/**
 * The callers that wait for the time in the provider's `Retry-After`: in the last ten seconds, three of their calls were refused and none
 * was accepted. So a limit of one user or caller holds no other caller. Each is tried again after ten seconds at most.
 */
const heldCallers = (seen: Seen): ReadonlySet<string> =>
  new Set(
    [...byCaller(recentCalls(seen))]
      .filter(
        ([, { accepted, refused, retryAt = 0 }]) =>
          accepted === 0 && refused >= refusedUsers && retryAt > seen.now,
      )
      .map(([caller]) => caller),
  );

/** Whether a start may go if the rate allows it. A turn that several groups share goes to the first group that asks, so each asks once. */
const admissionOf = (seen: Seen) => {
  const { now, isPaused, breakers } = seen;
  const held = heldCallers(seen);
  const givenAt = new Map(seen.turnsGivenAt);
  const askToGo = (place: Place): May => {
    const { caller, group } = place;
    if (isPaused || held.has(callerKey(caller))) return 'no';
    const may = mayStart(breakers.get(caller) ?? noBreaker, group, now);
    if (may !== 'turn') return may;
    const keys = turnKeys(place, seen);
    if (keys.some((key) => now - (givenAt.get(key) ?? 0) < turnTakenMs)) return 'no';
    for (const key of keys) givenAt.set(key, now);
    return 'turn';
  };
  return { askToGo, givenAt };
};

/** Slow start, as in TCP: without a rate, the dispatcher releases ever faster until the provider fails or refuses. */
const nextSlowStart = (
  { slowStart }: RateState,
  { calls, now }: Seen,
): NonNullable<RateState['slowStart']> => {
  if (slowStart === undefined) return { perSecond: firstPerSecond, at: now };
  if (calls === undefined || now - slowStart.at < recentSeconds * 1_000) return slowStart;
  const recent = totalOf(recentCalls({ calls, now }));
  const perSecond = badIn(recent) > 0 ? slowStart.perSecond : Math.min(maxPerSecond, 2 * slowStart.perSecond);
  return { perSecond, at: now };
};

/** Whether `next` fits this rate. If it is further ahead, it was written at a lower rate or by another clock. */
const isCurrent = (next: number | undefined, perSecond: number, now: number): next is number => {
  const { from, to } = currentTimes(perSecond, now);
  return next !== undefined && next >= from && next <= to;
};

/** The times at which this tick can release starts. They are evenly spaced, across ticks too. What a late tick missed goes at once. */
const slotsOf = (next: number | undefined, perSecond: number, now: number) => {
  const firstAt = isCurrent(next, perSecond, now) ? next : now;
  const count = Math.max(0, Math.ceil((now + tickMs - firstAt) / stepMs(perSecond)));
  return { firstAt, count: Math.min(count, maxPerSecond) };
};

/** Moves `next` past the releases, if no other process has moved it since it was read. A difference below 1 ms comes from rounding. */
const permitsFor = (
  starts: number,
  perSecond: number,
  { next, now }: Pick<Seen, 'next' | 'now'>,
): PermitUpdate | undefined => {
  if (starts === 0) return undefined;
  const ms = starts * stepMs(perSecond);
  if (isCurrent(next, perSecond, now)) return { kind: 'add', ms, from: next - 1, to: next + 1 };
  return { kind: 'reset', next: now + ms, ...currentTimes(perSecond, now) };
};

/**
 * Decides one tick of the dispatcher that has the lease: judges the calls, and chooses which starts to release. It is pure, so that a
 * dispatcher can decide again after it lost the race for a write.
 */
export const decideTick = (state: RateState, seen: Seen): Decision => {
  const { now, limit, waiting, calls, next, served } = seen;
  const from = state.windowFrom ?? now / 1_000;
  const judgement: RateJudgement =
    calls === undefined
      ? { state, judged: 'unchanged', share: 0 }
      : judgeCalls(state, { calls: callsFrom(calls, from), seconds: now / 1_000 - from }, limit, now);
  const { slowStart: _, ...afterJudging } = judgement.state;
  const rate = rateAt(afterJudging, limit, now);
  const slowStart = nextSlowStart(state, seen);
  const perSecond = rate ?? slowStart.perSecond;

  const { firstAt, count } = slotsOf(next, perSecond, now);
  const { askToGo, givenAt } = admissionOf(seen);
  const chosen = chooseNext(waiting, count, served, askToGo, new Date(now));
  const isSlow = rate === undefined && chosen.left > 0;
  const counting = isSlow ? countFromNow(afterJudging, now) : afterJudging;
  const permits = permitsFor(chosen.starts.length, perSecond, seen);
  return {
    state: {
      ...counting,
      lease: leaseOf(seen, now),
      lineUntil: rate !== undefined && chosen.left > 0 ? now + lineMs : afterJudging.lineUntil,
      ...(isSlow ? { slowStart } : {}),
    },
    ...(permits && { permits }),
    releases: chosen.starts.map((entry, index) => ({
      entry,
      afterMs: Math.max(0, firstAt - now + index * stepMs(perSecond)),
    })),
    turns: chosen.turns,
    served: chosen.served,
    turnsGivenAt: new Map([...givenAt].filter(([, at]) => now - at < turnTakenMs)),
    judgement,
  };
};

/** Whether a dispatcher is needed: starts wait, or calls are being counted. */
export const isBusy = (state: RateState, { waiting, now }: Pick<Seen, 'waiting' | 'now'>): boolean =>
  waiting.length > 0 || state.windowFrom !== undefined || hasLine(state, now);
