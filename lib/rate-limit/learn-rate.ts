import { defined } from '../defined.ts';
import {
  type Cuts,
  hasLine,
  isCounting,
  type Learnt,
  maxRetryAfterMs,
  minPerSecond,
  type RateState,
  rateAt,
  type Window,
} from './rate-state.ts';
import { addCounts, type CallCounts, noCalls } from './start-line.ts';

const windowMs = 10_000;
const maxWindowMs = 60_000;
/** Without a rate. Fewer than a call a second are no load, and some banks' breakers may hold the others. */
const firstWindowMs = 20_000;
const windowCalls = 20;
const windowRefused = 5;

/** Each overload may be an `UNCONFIRMED`, so it counts twice, and a quarter of 20 calls is judged at once. Of fewer, chance makes as many. */
const overloadWeight = 2;
const atOnceShare = 0.25;
const atOnceMs = 2_000;

const tooMany = 0.05;
const few = 0.02;
const growth = 1.03;
const slowGrowth = 1.005;
const maxGrowth = 1.25;
const nearCeiling = 0.9;
/** So far above what the provider accepted without refusals, the capacity was another. */
const aboveCapacity = 1.1;
const softCut = 0.95;
/** Below `nearCeiling`, so that it shows whether the rate was the cause. */
const overloadCut = 0.85;

/** More than so many are no strays: a provider whose rate fell may refuse more of them after each cut for a while. */
const maxStray = 0.3;
const strayMs = 600_000;
/** So many failures below the ceiling are no chance: there, a provider that sheds takes all. */
const shownFailures = 3;
/** The share of strays if nothing is known of them. */
const unknownStrays = 0.03;

/** Those that were released before a cut still go for so long. */
const releasedMs = 1_000;

/** The first rate is what was accepted within so long after the first 429. */
export const measuringMs = 2_000;

/** The first rate if nothing was accepted after the first 429, or nothing was tried. */
const unknownPerSecond = 1;

/** Calls that were counted so long ago are not judged with the calls of now: no dispatcher counted meanwhile. */
const staleSeconds = 15;

const newWindow = (now: number, counted = Math.floor(now / 1_000) - 1): Window => ({
  since: now,
  countedFrom: counted,
  countedUntil: counted,
  ...noCalls,
});

const startMeasuring = (
  state: RateState,
  because: NonNullable<RateState['measuring']>['because'],
  now: number,
): RateState => ({
  ...state,
  measuring: { since: now, because },
  window: newWindow(now),
});

/**
 * After a 429 that names neither quota nor user. Without a rate, the first one begins to measure. Returns the same state if nothing
 * changes.
 */
export const afterRefusal = (
  state: RateState,
  { limit, retryAt = 0, now }: { limit: number | undefined; retryAt: number | undefined; now: number },
): RateState => {
  const notBefore = Math.max(state.notBefore, Math.min(retryAt, now + maxRetryAfterMs));
  const held = notBefore === state.notBefore ? state : { ...state, notBefore };
  return rateAt(state, limit, now) === undefined && !isMeasuring(state, limit, now)
    ? startMeasuring(held, 'refused', now)
    : held;
};

/** After a start that failed beside accepted ones. Calls are counted from then on. */
export const afterOverload = (state: RateState, now: number): RateState =>
  isCounting(state, now) ? state : startMeasuring(state, 'overloaded', now);

/**
 * Whether a start was admitted at a rate that has been cut since. That it failed shows nothing of the lower rate. Those that were released
 * before the cut are admitted up to a second later.
 */
export const isBeforeCut = ({ cuts }: RateState, admittedAt: number): boolean =>
  cuts !== undefined && admittedAt < cuts.at + releasedMs;

/** What a judgement changed, for logs and metrics. */
export type Judged = 'unchanged' | 'learnt' | 'cut' | 'grown' | 'undone' | 'unlimited';

type Judgement = { readonly state: RateState; readonly judged: Judged };

/** Whether the first rate is measured. */
export const isMeasuring = (state: RateState, limit: number | undefined, now: number): boolean =>
  state.measuring !== undefined &&
  state.measuring.because !== 'overloaded' &&
  rateAt(state, limit, now) === undefined;

/**
 * The starts a second that the dispatcher may release. Until the first rate is known, none: those that just asked show it. If they were too
 * few, the line does.
 */
export const releaseRateAt = (
  state: RateState,
  limit: number | undefined,
  now: number,
): number | undefined => {
  if (!isMeasuring(state, limit, now)) return rateAt(state, limit, now);
  return state.measuring?.because === 'few-calls' ? (windowCalls * 1_000) / measuringMs : 0;
};

/** Whether the first rate follows from what is counted by now. */
export const isMeasured = ({ measuring }: RateState, now: number): boolean =>
  measuring !== undefined && now - measuring.since >= measuringMs;

/** Adds counted calls. Without a window, or after a stale one, a new one begins. */
export const withCounts = (
  state: RateState,
  counts: CallCounts,
  countedUntil: number,
  now: number,
): RateState => {
  const known = state.window;
  const isStale = known === undefined || known.countedUntil < countedUntil - staleSeconds;
  const window = isStale ? newWindow(now) : known;
  return {
    ...state,
    window: {
      ...window,
      ...addCounts(window, counts),
      countedUntil: Math.max(window.countedUntil, countedUntil),
    },
  };
};

/**
 * Overloads, unless they are some banks'. An overload fails at all banks alike: then an accepted start is beside a failed one of its bank as
 * often as chance makes it. Where banks fail, most of what is accepted is at others. Half as often as by chance counts, as calls are few.
 */
const overloadsIn = ({ accepted, overloaded, acceptedIn, overloadedIn }: CallCounts): number => {
  const passed = accepted / (accepted + overloaded);
  let beside = 0;
  let byChance = 0;
  for (const [bucket, calls] of Object.entries(acceptedIn)) {
    if (overloadedIn.includes(bucket)) beside += calls;
    byChance += calls * (1 - passed ** (calls / passed - 1));
  }
  return beside >= byChance / 2 ? overloaded : 0;
};

const failedIn = ({ refused, overloaded }: CallCounts): number => refused + overloaded;

const straysAt = ({ stray }: RateState, now: number): number =>
  stray !== undefined && now < stray.until ? stray.share : 0;

/** What more of these calls failed than strays do. */
const moreThan = (strays: number, calls: CallCounts): Pick<CallCounts, 'refused' | 'overloaded'> => {
  const failed = failedIn(calls);
  const share = failed === 0 ? 0 : Math.max(0, 1 - (strays * (calls.accepted + failed)) / failed);
  return { refused: share * calls.refused, overloaded: share * overloadsIn(calls) };
};

const isOver = (window: Window, overloaded: number, now: number): boolean => {
  const elapsed = now - window.since;
  const calls = window.accepted + failedIn(window);
  const isEnough = calls >= windowCalls;
  if (isEnough && overloaded >= atOnceShare * calls && elapsed >= atOnceMs) return true;
  return elapsed >= windowMs && (isEnough || window.refused >= windowRefused);
};

const fresh = (state: RateState, now: number): RateState => {
  const { measuring: _, ...rest } = state;
  return { ...rest, window: newWindow(now, state.window?.countedUntil) };
};

/** In a calm window cuts are over, but for cuts after overloads. */
const withoutOldCuts = (state: RateState): RateState => {
  if (state.learnt?.ceiling !== undefined) return state;
  const { cuts: _, ...rest } = state;
  return rest;
};

const withLearnt = (state: RateState, learnt: Learnt, now: number): RateState => {
  // A burst that was allowed before must not make the first starts at the new rate wait for long.
  const nextStartAt = Math.min(state.nextStartAt, now + 1_000);
  return { ...state, learnt, nextStartAt };
};

/** After the two seconds that follow the first 429. Few calls show nothing of a rate: then the line makes more for two seconds. */
const firstRate = (state: RateState, window: Window, now: number): Judgement => {
  const isEnough = window.accepted + window.refused >= windowCalls;
  if (!isEnough && state.measuring?.because === 'refused' && hasLine(state, now))
    return { state: startMeasuring(state, 'few-calls', now), judged: 'unchanged' };
  const seconds = (now - window.since) / 1_000;
  const accepted = window.accepted / seconds;
  const perSecond = Math.max(minPerSecond, window.accepted === 0 ? unknownPerSecond : accepted);
  return { state: withLearnt(fresh(state, now), { perSecond, at: now }, now), judged: 'learnt' };
};

/**
 * Whether more than 5 % are refused, beyond what chance makes of the strays: by two standard deviations of them, one if they are unknown, and
 * five at least. Without that, few calls would be cut again and again for one stray refusal.
 */
const isTooMany = (bad: number, calls: number, weight: number, strays: number): boolean =>
  bad >= windowRefused &&
  bad > tooMany * calls + weight * Math.sqrt(Math.max(unknownStrays, 4 * strays) * calls);

const withSince = (cuts: Cuts, window: Window): Cuts => ({
  ...cuts,
  since: {
    accepted: cuts.since.accepted + window.accepted,
    failed: cuts.since.failed + failedIn(window),
  },
});

/** The share of calls that failed since the last cut. Asked once some did. */
const shareSince = ({ since: { accepted, failed } }: Cuts): number => failed / (accepted + failed);

/**
 * A provider that takes so many a second accepts as many after a cut as before, or all. Where failures do not depend on the rate, the same
 * share passes as before. A cut has helped if what passed since is nearer to the first.
 */
const hasHelped = (cuts: Cuts, rate: number): boolean => {
  const byRate = Math.min(1, cuts.accepted / rate);
  const byChance = cuts.accepted / cuts.calls;
  return 1 - shareSince(cuts) > (byRate + byChance) / 2;
};

/**
 * Whether the failures since the last cut are no matter of the rate: all of them, or those that are left. A provider whose rate fell may
 * refuse more after each cut for a while, but it does not fail more.
 */
const shownBy = (
  cuts: Cuts,
  { ceiling }: Learnt,
  rate: number,
  isBad: boolean,
): 'all' | 'left' | undefined => {
  if (ceiling === undefined) {
    const isShown = isBad && cuts.count >= 2 && shareSince(cuts) <= maxStray;
    return isShown && !hasHelped(cuts, rate) ? 'all' : undefined;
  }
  if (cuts.since.failed < shownFailures) return undefined;
  if (!hasHelped(cuts, rate)) return 'all';
  return isBad ? undefined : 'left';
};

/** The failures that are left hide where those by overload begin. */
const withoutCeiling = (state: RateState, share: number, now: number): RateState => {
  const { cuts: _, learnt, ...rest } = state;
  const { ceiling: _passed, ...kept } = learnt as Learnt;
  return { ...rest, learnt: kept, stray: { share, until: now + strayMs } };
};

const undo = (state: RateState, cuts: Cuts, now: number): Judgement => {
  const { cuts: _, learnt: _cut, ...rest } = fresh(state, now);
  const { from } = cuts;
  const before = from === undefined ? rest : withLearnt(rest, { perSecond: from, at: now }, now);
  const share = Math.max(1 - cuts.accepted / cuts.calls, shareSince(cuts));
  return { state: { ...before, stray: { share, until: now + strayMs } }, judged: 'undone' };
};

const cut = (state: RateState, window: Window, rate: number, now: number): Judgement => {
  const seconds = Math.max(1, window.countedUntil - window.countedFrom);
  const accepted = window.accepted / seconds;
  const { cuts } = state;
  const isOverload = overloadsIn(window) > 0;
  const target = Math.min(rate, (isOverload ? overloadCut : softCut) * accepted);
  const perSecond = Math.max(minPerSecond, Number.isFinite(rate) ? Math.max(rate / 2, target) : target);
  const before = {
    ...(Number.isFinite(rate) ? { from: rate } : {}),
    calls: accepted + failedIn(window) / seconds,
    accepted,
  };
  const isFirst = cuts === undefined || (cuts.count >= 2 && !isOverload);
  const count = isFirst ? 1 : cuts.count + 1;
  // Of cuts for overload, each shows by itself whether it helped.
  const compared = isFirst || isOverload ? before : cuts;
  const ceiling = isOverload ? Math.min(rate, Math.max(accepted, perSecond)) : state.learnt?.ceiling;
  const next = withLearnt(fresh(state, now), defined({ perSecond, at: now, ceiling }), now);
  const fromThen = newWindow(now, Math.floor((now + releasedMs) / 1_000));
  return {
    state: {
      ...next,
      window: fromThen,
      cuts: { ...compared, count, at: now, since: { accepted: 0, failed: 0 } },
    },
    judged: 'cut',
  };
};

/** To just below a rate. Of what was learnt, the bound that shows why stays. */
const cutSoftly = (
  state: RateState,
  rate: number,
  bound: Pick<Learnt, 'ceiling' | 'capacity'>,
  now: number,
): Judgement => {
  const times = bound.ceiling === undefined ? softCut : overloadCut;
  const learnt = { perSecond: Math.max(minPerSecond, times * rate), at: now, ...bound };
  return { state: withLearnt(fresh(state, now), learnt, now), judged: 'cut' };
};

const grow = (
  state: RateState,
  window: Window,
  rate: number,
  limit: number | undefined,
  now: number,
): Judgement => {
  const { learnt, cuts, ...rest } = fresh(state, now);
  if (learnt === undefined || !hasLine(state, now))
    return { state: learnt === undefined ? rest : fresh(withoutOldCuts(state), now), judged: 'unchanged' };
  const { ceiling } = learnt;
  const isNear = ceiling !== undefined && rate * growth > nearCeiling * ceiling;
  // At a low rate, the calls of a window take minutes. Growing as slowly for each window would keep a line for hours.
  const tens = ((window.accepted + window.refused) * 1_000) / (rate * windowMs);
  const perSecond = rate * Math.min(maxGrowth, (isNear ? slowGrowth : growth) ** Math.max(1, tens));
  if (limit !== undefined && perSecond >= limit) return { state: rest, judged: 'unlimited' };
  const capacity = cuts === undefined || ceiling !== undefined ? learnt.capacity : learnt.perSecond / softCut;
  // What was passed is a bound no more.
  const unless = (bound: number | undefined, times: number): number | undefined =>
    bound !== undefined && perSecond < times * bound ? bound : undefined;
  const bounds = { ceiling: unless(ceiling, 1.2), capacity: unless(capacity, aboveCapacity) };
  const grown = { ...fresh(state, now), learnt: defined({ perSecond, at: now, ...bounds }) };
  return { state: withoutOldCuts(grown), judged: 'grown' };
};

/** What a window that is over shows, without the strays. */
type Shown = {
  readonly share: number;
  readonly isTooMany: boolean;
  readonly overloaded: number;
};

const shownIn = (window: Window, strays: number): Shown => {
  const { refused, overloaded } = moreThan(strays, window);
  const bad = refused + overloadWeight * overloaded;
  const calls = window.accepted + bad;
  const weight = overloaded > 0 ? overloadWeight : 1;
  return { share: bad / calls, isTooMany: isTooMany(bad, calls, weight, strays), overloaded };
};

/** What a learnt rate follows from. */
const adapt = (
  state: RateState,
  { share, overloaded }: Shown,
  limit: number | undefined,
  now: number,
): Judgement => {
  const { window, learnt: { capacity, ceiling } = {} } = state;
  const rate = rateAt(state, limit, now);
  const calm = { state: fresh(withoutOldCuts(state), now), judged: 'unchanged' } as const;
  if (window === undefined || rate === undefined) return calm;
  if (share >= few && capacity !== undefined && rate > capacity)
    return cutSoftly(state, capacity, { capacity }, now);
  if (overloaded > 0 && ceiling !== undefined && rate > nearCeiling * ceiling)
    return cutSoftly(state, rate, { ceiling }, now);
  return share < few ? grow(state, window, rate, limit, now) : calm;
};

/**
 * Judges the calls of a window, once it is over. Of their failures, those that no rate causes do not count. Above 5 % the rate becomes 0.95
 * of what was accepted, 0.85 if they are overloads, and at most halved. Below 2 % it grows by 3 % for each ten seconds while there is a line,
 * up to the limit. In between, one above the capacity falls below it. Cuts that did not help are undone. Returns the same state before that.
 */
export const judgeCalls = (state: RateState, limit: number | undefined, now: number): Judgement => {
  const { window, learnt } = state;
  const unchanged = { state, judged: 'unchanged' } as const;
  if (window === undefined) return unchanged;
  const rate = rateAt(state, limit, now);
  if (isMeasuring(state, limit, now))
    return isMeasured(state, now) ? firstRate(state, window, now) : unchanged;
  const strays = straysAt(state, now);
  const shown = shownIn(window, strays);
  if (!isOver(window, shown.overloaded, now)) {
    // Without a rate, so few calls are no overload.
    const isDone = now - window.since >= firstWindowMs && (rate === undefined || !hasLine(state, now));
    return isDone ? { state: fresh(state, now), judged: 'unchanged' } : unchanged;
  }
  const { ceiling } = learnt ?? {};
  // Near the ceiling, the rate may cause them.
  const isBelow = ceiling === undefined || (rate !== undefined && rate <= nearCeiling * ceiling);
  const cuts = state.cuts !== undefined && isBelow ? withSince(state.cuts, window) : state.cuts;
  const counted = cuts === undefined ? state : { ...state, cuts };
  if (cuts !== undefined && learnt !== undefined && rate !== undefined) {
    const by = shownBy(cuts, learnt, rate, shown.isTooMany);
    if (by === 'all') return undo(counted, cuts, now);
    if (by === 'left') return grow(withoutCeiling(counted, shareSince(cuts), now), window, rate, limit, now);
  }
  if (!shown.isTooMany) {
    // More calls show whether it is chance.
    const isAbove = learnt?.capacity !== undefined && rate !== undefined && rate > learnt.capacity;
    const mayWait = shown.share > tooMany && !isAbove && now - window.since < maxWindowMs;
    return mayWait ? unchanged : adapt(counted, shown, limit, now);
  }
  // Without any accepted start it is an outage, which is the breakers'.
  const isOutage = window.accepted === 0 && window.refused === 0;
  return isOutage
    ? { state: fresh(counted, now), judged: 'unchanged' }
    : cut(counted, window, rate ?? Infinity, now);
};
