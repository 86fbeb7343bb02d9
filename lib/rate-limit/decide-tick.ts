import { type BreakerState, mayStart, turnsOf } from '../breaker/breaker-state.ts';
import { badIn, byCaller, type Calls, callerKey, callsFrom, totalOf } from './call-counts.ts';
import { chooseNext, type May, type Served } from './choose-next.ts';
import { afterBad, judgeCalls, type RateJudgement } from './learn-rate.ts';
import { currentTimes, type PermitUpdate, stepMs } from './permit.ts';
import { hasLine, isLeased, leaseMs, lineMs, maxPerSecond, type RateState, rateAt } from './rate-state.ts';
import type { InLine, Place } from './start-line.ts';

/** A dispatcher releases once in so long. */
export const tickMs = 1_000;

/** Without a rate, so many a second of those that wait are released at first, and twice as many after each calm ten seconds. */
const firstPerSecond = 10;
/** What is known of the calls of this time decides whether it was calm, and who is refused. */
export const recentSeconds = 10;

/** A caller of whose calls so many were refused in ten seconds, and none accepted, waits as the provider asks. */
const refusedUsers = 3;

/** A turn was released, and its start has not taken it yet. */
const turnTakenMs = 10_000;

/** What a tick has read. */
export type Seen = {
  readonly now: number;
  /** This dispatcher, and when its invocation ends. */
  readonly holder: string;
  readonly endsAt: number;
  /** The starts a second by hand or of the setting. Undefined: none is set. */
  readonly limit: number | undefined;
  readonly isPaused: boolean;
  /** Who waits, in the order of slots, without those that were just released. */
  readonly waiting: readonly InLine[];
  /** By the second of the epoch in which they were counted. Undefined: they could not be read, so nothing is judged. */
  readonly calls: ReadonlyMap<number, Calls> | undefined;
  /** By their callers. One that could not be read holds nothing here: start-task asks it again. */
  readonly breakers: ReadonlyMap<string, BreakerState>;
  /** `next` of the permit, as far as it is known. */
  readonly next: number | undefined;
  readonly served: Served;
  /** When turns of breakers were released last, by caller and turn. */
  readonly turnsGivenAt: ReadonlyMap<string, number>;
};

export type Release = { readonly entry: InLine; readonly afterMs: number };

export type Decision = {
  /** Replaces the state from which it was decided. */
  readonly state: RateState;
  /** Another dispatcher releases. All else is empty then. */
  readonly isLeased: boolean;
  /** What has to be taken before those at the rate are released. Absent: nothing. */
  readonly permits?: PermitUpdate;
  /** At the rate. */
  readonly releases: readonly Release[];
  /** Probe turns of breakers, at once. */
  readonly turns: readonly InLine[];
  readonly served: Served;
  readonly turnsGivenAt: ReadonlyMap<string, number>;
  readonly judgement?: RateJudgement;
};

/** The calls of the last ten seconds. None if they could not be read. */
export const recentCalls = ({ calls = new Map(), now }: Pick<Seen, 'calls' | 'now'>): Calls =>
  callsFrom(calls, now / 1_000 - recentSeconds);

const noBreaker: BreakerState = { groups: [] };

const turnKeys = ({ caller, group }: Place, { breakers }: Seen): readonly string[] =>
  turnsOf(breakers.get(caller) ?? noBreaker, group).map((turn) => `${caller} ${turn}`);

/**
 * The callers that wait as the provider asked, by `Retry-After`: none of their calls of the last ten seconds was accepted, and three were
 * refused. So a limit of one user, or of all users of a caller, holds nobody else, and each for ten seconds at most before it is tried again.
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

/**
 * Whether each start may go, whatever the rate. A turn that several groups share is given once: the first of them that asks has it.
 */
const admissionOf = (seen: Seen) => {
  const { now, isPaused, breakers } = seen;
  const held = heldCallers(seen);
  const givenAt = new Map(seen.turnsGivenAt);
  const mayGo = (place: Place): May => {
    const { caller, group } = place;
    if (isPaused || held.has(callerKey(caller))) return 'no';
    const may = mayStart(breakers.get(caller) ?? noBreaker, group, now);
    if (may !== 'turn') return may;
    const keys = turnKeys(place, seen);
    if (keys.some((key) => now - (givenAt.get(key) ?? 0) < turnTakenMs)) return 'no';
    for (const key of keys) givenAt.set(key, now);
    return 'turn';
  };
  return { mayGo, givenAt };
};

/** Slow start, as in TCP: those that wait for no rate are released ever faster, unless the provider fails or refuses. */
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

/** Whether `next` was taken at this rate. One further ahead is of a lower rate, or of another clock. */
const isCurrent = (next: number | undefined, perSecond: number, now: number): next is number => {
  const { from, to } = currentTimes(perSecond, now);
  return next !== undefined && next >= from && next <= to;
};

/** When starts can be released in this tick: evenly, also from one tick to the next. What a late tick missed goes at once. */
const slotsOf = (next: number | undefined, perSecond: number, now: number) => {
  const firstAt = isCurrent(next, perSecond, now) ? next : now;
  const count = Math.max(0, Math.ceil((now + tickMs - firstAt) / stepMs(perSecond)));
  return { firstAt, count: Math.min(count, maxPerSecond) };
};

/** Moves `next` over what is released, if nobody else has moved it since it was seen. A difference below a millisecond is of rounding. */
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
 * What one tick does: judges the calls, and chooses who is released. Pure, so that a dispatcher whose write of the rate, or of the permit, lost
 * a race decides again from what is stored.
 */
export const decideTick = (state: RateState, seen: Seen): Decision => {
  const { now, holder, endsAt, limit, waiting, calls, next, served, turnsGivenAt } = seen;
  if (isLeased(state, holder, now))
    return { state, isLeased: true, releases: [], turns: [], served, turnsGivenAt };

  const from = state.windowFrom ?? now / 1_000;
  const judgement: RateJudgement =
    calls === undefined
      ? { state, judged: 'unchanged', share: 0 }
      : judgeCalls(state, { calls: callsFrom(calls, from), seconds: now / 1_000 - from }, limit, now);
  const { slowStart: _, ...judged } = judgement.state;
  const rate = rateAt(judged, limit, now);
  const slowStart = nextSlowStart(state, seen);
  const perSecond = rate ?? slowStart.perSecond;

  const { firstAt, count } = slotsOf(next, perSecond, now);
  const { mayGo, givenAt } = admissionOf(seen);
  const chosen = chooseNext(waiting, count, served, mayGo, new Date(now));
  const isSlow = rate === undefined && chosen.left > 0;
  const counting = isSlow ? afterBad(judged, now) : judged;
  const permits = permitsFor(chosen.next.length, perSecond, seen);
  return {
    state: {
      ...counting,
      lease: { holder, until: now + leaseMs, ends: endsAt },
      lineUntil: rate !== undefined && chosen.left > 0 ? now + lineMs : judged.lineUntil,
      ...(isSlow ? { slowStart } : {}),
    },
    isLeased: false,
    ...(permits && { permits }),
    releases: chosen.next.map((entry, index) => ({
      entry,
      afterMs: Math.max(0, firstAt - now + index * stepMs(perSecond)),
    })),
    turns: chosen.turns,
    served: chosen.served,
    turnsGivenAt: new Map([...givenAt].filter(([, at]) => now - at < turnTakenMs)),
    judgement,
  };
};

/** Whether there is something for a dispatcher to do, although nobody may be in line. */
export const isBusy = (state: RateState, { waiting, now }: Pick<Seen, 'waiting' | 'now'>): boolean =>
  waiting.length > 0 || state.windowFrom !== undefined || hasLine(state, now);
