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
import { hasLine, maxPerSecond, minPerSecond, type RateState, rateAt } from './rate-state.ts';

/** AIMD, as in TCP, on the rate. Calls are judged in windows of so many calls, in at least so long. */
const windowSeconds = 10;
const windowCalls = 20;
/** Without a rate, the calls of one second are enough. */
const firstSeconds = 1;

/** Above this share of bad calls the rate is cut. Fewer bad ones than this may be chance. */
const tooMany = 0.05;
const fewBad = 5;

/** A cut goes a little below what was accepted, so that a queue at the provider drains. */
const cutTo = 0.9;
/** Those that were released before a cut still go for so long. */
export const settleMs = 3_000;

/** For each ten seconds with a line: slowly up to a little above what was accepted at the last cut, then faster. */
const growth = 1.015;
const fastGrowth = 1.1;
const maxGrowth = 1.25;
const nearGood = 1.1;

/** A cut is a trial: what is bad as often so far below what was accepted has another cause, and shows nothing for ten minutes. */
const belowGood = 0.97;
const maxNoise = 0.3;
const deafMs = 600_000;

/**
 * After a bad call, calls are counted from the next second on: by then every process knows. Returns the same state if they are counted
 * already.
 */
export const afterBad = (state: RateState, now: number): RateState =>
  state.windowFrom === undefined ? { ...state, windowFrom: Math.floor(now / 1_000) + 1 } : state;

/** Whether a start was admitted before the last cut had settled: that it failed shows nothing of the lower rate. */
export const isBeforeCut = ({ learnt }: RateState, admittedAt: number): boolean =>
  learnt !== undefined && admittedAt < learnt.at + settleMs;

const withoutFailures = (calls: Calls): Calls =>
  new Map([...calls].map(([key, counts]) => [key, { ...counts, failed: 0 }]));

/** What shows something of the rate. Fewer calls a second are no load under which a provider fails, and some banks' failures are theirs. */
const shownBy = ({ calls, seconds }: Window, isDeaf: boolean): Calls => {
  const isLoad = callsIn(totalOf(calls)) * windowSeconds >= windowCalls * seconds;
  return isDeaf || !isLoad || !failsEverywhere(calls) ? withoutFailures(calls) : calls;
};

/**
 * The share of bad calls that the provider shows to all callers. No caller alone lowers the rate of others, whatever he provokes: where the others make
 * half of the calls that a window has, it is theirs, if it is less than that of the worst.
 */
const shareOf = (calls: Calls): number => {
  const [worst, others] = worstAndOthers(calls);
  const areEnough = callsIn(others) >= windowCalls / 2;
  return areEnough ? Math.min(shareIn(worst), shareIn(others)) : shareIn(totalOf(calls));
};

/** What a judgement changed, for logs and metrics. */
export type Judged = 'unchanged' | 'cut' | 'grown' | 'undone' | 'unlimited';

export type RateJudgement = {
  readonly state: RateState;
  readonly judged: Judged;
  /** The share of bad calls that decided, from 0 to 1. */
  readonly share: number;
};

/** The calls of a window, and how many seconds it has by now. */
export type Window = { readonly calls: Calls; readonly seconds: number };

/** No rate is learnt from fewer calls than a window has. That one is too high, a few refusals show. */
const isEnough = (counts: CallCounts, rate: number | undefined): boolean =>
  callsIn(counts) >= windowCalls || (rate !== undefined && counts.refused >= fewBad);

const isOver = ({ calls, seconds }: Window, rate: number | undefined): boolean => {
  const enough = isEnough(totalOf(calls), rate);
  // The first seconds of one caller show what happens to all only if it happens to others, too.
  const [, others] = worstAndOthers(calls);
  const isShared = others.accepted === 0 || shareIn(others) > tooMany;
  if (seconds < windowSeconds) return rate === undefined && seconds >= firstSeconds && enough && isShared;
  return enough || rate === undefined || seconds >= 10 * windowSeconds;
};

/** The rate is not the cause. It is forgotten, and for a while failures and this share of refusals show nothing. */
const undo = ({ learnt: _, ...rest }: RateState, calls: Calls, now: number): RateState => ({
  ...rest,
  deaf: { share: shareOf(withoutFailures(calls)), until: now + deafMs },
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
  // At most halved: a provider that counts what it refuses may accept nothing for a while.
  const good = Math.max(accepted / seconds, rate === undefined ? 1 : rate / 2, minPerSecond);
  const perSecond = Math.min(cutTo * good, rate ?? Number.POSITIVE_INFINITY);
  return {
    ...state,
    learnt: { perSecond, good, share, at: now },
    windowFrom: Math.floor((now + settleMs) / 1_000),
  };
};

const grow = (state: RateState, seconds: number, limit: number | undefined): Omit<RateJudgement, 'share'> => {
  const { learnt, ...rest } = state;
  if (learnt === undefined) return { state, judged: 'unchanged' };
  const step = learnt.perSecond < nearGood * learnt.good ? growth : fastGrowth;
  const perSecond = learnt.perSecond * Math.min(maxGrowth, step ** Math.max(1, seconds / windowSeconds));
  return perSecond >= Math.min(limit ?? maxPerSecond, maxPerSecond)
    ? { state: rest, judged: 'unlimited' }
    : { state: { ...rest, learnt: { ...learnt, perSecond } }, judged: 'grown' };
};

/**
 * Judges the calls of a window, once it is over, and begins the next one. Returns the same state before that.
 *
 * @param limit the rate by hand or of the setting, if there is one
 */
export const judgeCalls = (
  state: RateState,
  window: Window,
  limit: number | undefined,
  now: number,
): RateJudgement => {
  const rate = rateAt(state, limit, now);
  const { learnt, windowFrom: from, deaf, ...others } = state;
  const isDeaf = deaf !== undefined && now < deaf.until;
  const calls = shownBy(window, isDeaf);
  const share = shareOf(calls);
  if (from === undefined || !isOver(window, rate)) return { state, judged: 'unchanged', share };
  const counts = totalOf(calls);
  const next: RateState = {
    ...others,
    ...(learnt && { learnt }),
    ...(isDeaf && { deaf }),
    windowFrom: Math.floor(now / 1_000) + 1,
  };
  // Without any answer but failures it is an outage, which is the breakers'.
  const isOutage = counts.accepted + counts.refused === 0;
  const isFew = badIn(counts) < fewBad || !isEnough(counts, rate);
  if (share <= tooMany + (isDeaf ? deaf.share : 0) || isFew || isOutage) {
    if (hasLine(state, now)) return { ...grow(next, window.seconds, limit), share };
    // Nobody waits, and nothing is bad: nothing more is counted, which costs each start a write.
    const { windowFrom: _from, ...calm } = next;
    return { state: badIn(counts) === 0 ? calm : next, judged: 'unchanged', share };
  }
  const isBelow = learnt !== undefined && (rate ?? 0) <= belowGood * learnt.good;
  if (isBelow && share <= maxNoise && share >= learnt.share / 2)
    return { state: undo(next, calls, now), judged: 'undone', share };
  const { seconds } = window;
  return {
    state: cut(next, { seconds, accepted: counts.accepted, share }, rate, now),
    judged: 'cut',
    share,
  };
};
