import {
  badIn,
  type CallCounts,
  type Calls,
  callsIn,
  failsEverywhere,
  shareIn,
  totalOf,
  worstAndOthers,
} from './call-counts.ts';
import { hasLine, learntIn, maxPerSecond, minPerSecond, type RateState, rateAt } from './rate-state.ts';

/** The rate is learnt by AIMD, as in TCP. A window of calls is judged once it has this length and this many calls. */
const windowSeconds = 10;
const windowCalls = 20;
/** Without a rate, a window may end after one second. */
const firstSeconds = 1;

/**
 * The rate is cut if the share of bad calls, which are the refused ones and twice the failed ones, is above this, and there are at least
 * `fewBad` of them. Fewer may be chance.
 */
const tooMany = 0.05;
const fewBad = 5;

/** A cut goes below what the provider accepted, so that the provider's own queue drains. */
const cutTo = 0.9;
/** How long after a cut starts still arrive that were released before it. */
export const settleMs = 3_000;

/** The growth for each ten seconds with a line. It is slow up to `nearAccepted` times what was accepted at the last cut, and then fast. */
const growth = 1.015;
const fastGrowth = 1.1;
const maxGrowth = 1.25;
const nearAccepted = 1.1;

/**
 * If a rate so far below what was accepted brings as many bad calls as before, the rate is not their cause. The cut is undone, and for ten
 * minutes such a share cuts nothing.
 */
const belowAccepted = 0.97;
const maxNoise = 0.3;
const noiseMs = 600_000;

/**
 * Counts calls from the next second on, because by then every process knows of it: after a bad call, or when the dispatcher begins to
 * release without a rate. Returns the same state if they are counted already.
 */
export const countFromNow = (state: RateState, now: number): RateState =>
  state.windowFrom === undefined ? { ...state, windowFrom: Math.floor(now / 1_000) + 1 } : state;

/** Whether a start was admitted before the last cut had taken effect. Its failure shows nothing about the lower rate. */
export const isBeforeCut = ({ learnt }: RateState, admittedAt: number): boolean =>
  learnt !== undefined && admittedAt < learnt.at + settleMs;

const withoutFailures = (calls: Calls): Calls =>
  new Map([...calls].map(([key, counts]) => [key, { ...counts, failed: 0 }]));

/** Drops failures that show nothing about the rate: with too few calls for an overload, only at some banks, or after a cut was undone. */
const shownBy = ({ calls, seconds }: Window, isNoisy: boolean): Calls => {
  const isLoad = callsIn(totalOf(calls)) * windowSeconds >= windowCalls * seconds;
  return isNoisy || !isLoad || !failsEverywhere(calls) ? withoutFailures(calls) : calls;
};

/**
 * The share of bad calls that all callers see. One caller alone must not lower the rate of the others. So if the others made at least half
 * of the calls that a window needs, the smaller share counts: that of the worst caller, or of the others.
 */
const shareOf = (calls: Calls): number => {
  const [worst, others] = worstAndOthers(calls);
  const areEnough = callsIn(others) >= windowCalls / 2;
  return areEnough ? Math.min(shareIn(worst), shareIn(others)) : shareIn(totalOf(calls));
};

export type Judged = 'unchanged' | 'cut' | 'grown' | 'undone' | 'unlimited';

export type RateJudgement = {
  readonly state: RateState;
  readonly judged: Judged;
  /** The share of bad calls by which it was judged, from 0 to 1. */
  readonly share: number;
};

/** The calls of a window, and its length so far. */
export type Window = { readonly calls: Calls; readonly seconds: number };

/** Whether there are enough calls to judge. A first rate needs a whole window of calls. To cut a rate, a few refusals are enough. */
const isEnough = (counts: CallCounts, rate: number | undefined): boolean =>
  callsIn(counts) >= windowCalls || (rate !== undefined && counts.refused >= fewBad);

const isOver = ({ calls, seconds }: Window, rate: number | undefined): boolean => {
  const enough = isEnough(totalOf(calls), rate);
  // A first, short window is judged only if callers other than the worst one have many bad calls, or no accepted one.
  const [, others] = worstAndOthers(calls);
  const isShared = others.accepted === 0 || shareIn(others) > tooMany;
  if (seconds < windowSeconds) return rate === undefined && seconds >= firstSeconds && enough && isShared;
  return enough || rate === undefined || seconds >= 10 * windowSeconds;
};

/** Forgets the learnt rate, which is not the cause of the bad calls. For some time, failures and this share of refusals cut nothing. */
const undo = ({ learnt: _, ...rest }: RateState, calls: Calls, now: number): RateState => ({
  ...rest,
  noise: { share: shareOf(withoutFailures(calls)), until: now + noiseMs },
});

const cut = (
  state: RateState,
  {
    seconds,
    accepted,
    share,
  }: { readonly seconds: number; readonly accepted: number; readonly share: number },
  rate: number | undefined,
  now: number,
): RateState => {
  // A rate is at most halved, because a provider that counts refused calls too may accept none for a while.
  const perSecondAccepted = Math.max(accepted / seconds, rate === undefined ? 1 : rate / 2, minPerSecond);
  const perSecond = Math.min(cutTo * perSecondAccepted, rate ?? Number.POSITIVE_INFINITY);
  return {
    ...state,
    learnt: { perSecond, accepted: perSecondAccepted, share, at: now },
    windowFrom: Math.floor((now + settleMs) / 1_000),
  };
};

const grow = (state: RateState, seconds: number, limit: number | undefined): Omit<RateJudgement, 'share'> => {
  const { learnt, ...rest } = state;
  if (learnt === undefined) return { state, judged: 'unchanged' };
  const step = learnt.perSecond < nearAccepted * learnt.accepted ? growth : fastGrowth;
  const perSecond = learnt.perSecond * Math.min(maxGrowth, step ** Math.max(1, seconds / windowSeconds));
  return perSecond >= Math.min(limit ?? maxPerSecond, maxPerSecond)
    ? { state: rest, judged: 'unlimited' }
    : { state: { ...rest, learnt: { ...learnt, perSecond } }, judged: 'grown' };
};

/**
 * Judges the calls of a window that is over, and begins the next one. Returns the same state before that.
 *
 * @param limit the rate set by hand or by the setting, if any
 */
export const judgeCalls = (
  state: RateState,
  window: Window,
  limit: number | undefined,
  now: number,
): RateJudgement => {
  const rate = rateAt(state, limit, now);
  const learnt = learntIn(state, now);
  const { learnt: _, windowFrom: from, noise, ...others } = state;
  const isNoisy = noise !== undefined && now < noise.until;
  const calls = shownBy(window, isNoisy);
  const share = shareOf(calls);
  if (from === undefined || !isOver(window, rate)) return { state, judged: 'unchanged', share };
  const counts = totalOf(calls);
  const next: RateState = {
    ...others,
    ...(learnt && { learnt }),
    ...(isNoisy && { noise }),
    windowFrom: Math.floor(now / 1_000) + 1,
  };
  const isFew = badIn(counts) < fewBad || !isEnough(counts, rate);
  if (share <= tooMany + (isNoisy ? noise.share : 0) || isFew) {
    if (hasLine(state, now)) return { ...grow(next, window.seconds, limit), share };
    // If no start waits and no call is bad, counting stops, because it costs each start a write.
    const { windowFrom: _from, ...calm } = next;
    return { state: badIn(counts) === 0 ? calm : next, judged: 'unchanged', share };
  }
  const isBelow = learnt !== undefined && rate !== undefined && rate <= belowAccepted * learnt.accepted;
  if (isBelow && share <= maxNoise && share >= learnt.share / 2)
    return { state: undo(next, calls, now), judged: 'undone', share };
  const { seconds } = window;
  return {
    state: cut(next, { seconds, accepted: counts.accepted, share }, rate, now),
    judged: 'cut',
    share,
  };
};
