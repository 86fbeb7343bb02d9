import { defined } from '../defined.ts';

/** The calls that one breaker is for: those that start tasks, and those that read them. */
export const breakerNames = ['starts', 'reads'] as const;

export type BreakerName = (typeof breakerNames)[number];

/** While open, no call is made until `until`. Then one elected probe decides whether the breaker closes. */
export type Opened = {
  readonly since: number;
  readonly until: number;
  /** The length of the current pause, in seconds, without what a `Retry-After` adds. */
  readonly seconds: number;
  /** The elected probe. After `until`, another one may be elected, because this one was probably interrupted. */
  readonly probe?: { readonly id: string; readonly until: number };
  /** The extraction of the last probe that failed. */
  readonly failedProbe?: string;
  /** What the last failure was that opened it or kept it open. Absent if that is not known. */
  readonly cause?: string;
};

/** One breaker. Times are milliseconds of the epoch. Extractions are named by `shortIdOf`. */
export type BreakerState = {
  /** 1 more for each extraction that begins to fail, 1 less for each success, never below 0. */
  readonly count: number;
  /**
   * The extractions whose last call failed, the oldest first. None of them is counted again before it succeeds, so that one
   * broken extraction never opens a breaker, however often it is read.
   */
  readonly failing: readonly string[];
  readonly opened?: Opened;
  /** Set by an operator. No call is made, and no probe, until an operator resumes. */
  readonly paused?: { readonly since: number; readonly reason: string };
};

export type BreakerSettings = {
  /** The breaker opens at this count. */
  readonly failures: number;
  /** The first pause. */
  readonly openSeconds: number;
  /** The longest pause. */
  readonly maxOpenSeconds: number;
  /** For how long no other probe is elected. Longer than the process of a probe can run. */
  readonly probeSeconds: number;
  /** A call that takes longer counts as a failure from then on, until it succeeds. Absent: only its end counts. */
  readonly slowCallSeconds?: number;
};

export type BreakerPhase = 'closed' | 'open' | 'half-open' | 'paused';

export const closedBreaker: BreakerState = { count: 0, failing: [] };

/** 200 names of 12 characters are 2.6 KB of the item: a write of 3 units, and a read of half a unit. */
const mostFailing = 200;

/** The name of an extraction in the state: the end of its id, of which 48 bits are random or a hash. */
export const shortIdOf = (extractionId: string): string => extractionId.slice(-12);

export const phaseOf = ({ paused, opened }: BreakerState, now: number): BreakerPhase => {
  if (paused !== undefined) return 'paused';
  if (opened === undefined) return 'closed';
  return now < opened.until ? 'open' : 'half-open';
};

/** Whether a closed breaker has counted a failure, so that the next call may open it. */
export const mayOpenSoon = (state: BreakerState, now: number): boolean =>
  phaseOf(state, now) === 'closed' && state.count > 0;

const isKnown = ({ failing }: BreakerState, extraction: string): boolean => failing.includes(extraction);

/**
 * Whether a call about this extraction may be made now. `as-probe`: only by the process that is elected. An extraction whose
 * last call failed would show nothing about the others, so that it is a probe only after no other came for one pause.
 */
export const mayCall = (state: BreakerState, extraction: string, now: number): 'yes' | 'no' | 'as-probe' => {
  const phase = phaseOf(state, now);
  if (phase === 'closed') return 'yes';
  if (phase !== 'half-open' || state.opened === undefined) return 'no';
  const { until, seconds, probe } = state.opened;
  if (probe !== undefined && now < probe.until) return 'no';
  return isKnown(state, extraction) && now < until + seconds * 1_000 ? 'no' : 'as-probe';
};

/** Elects a probe, unless a call may not be made as one. Returns the same state then. */
export const electProbe = (
  state: BreakerState,
  { id, extraction, now }: { readonly id: string; readonly extraction: string; readonly now: number },
  { probeSeconds }: BreakerSettings,
): BreakerState => {
  const { opened } = state;
  if (opened === undefined || mayCall(state, extraction, now) !== 'as-probe') return state;
  return { ...state, opened: { ...opened, probe: { id, until: now + probeSeconds * 1_000 } } };
};

/** What a failed call showed. */
export type Failure = {
  readonly extraction: string;
  readonly now: number;
  /** A status or a code, such as `http-503` or `ECONNREFUSED`, or `slow`. */
  readonly cause?: string | undefined;
  /** No call may be made before this time, as the provider asked by a 503 with `Retry-After`. */
  readonly retryAt?: number | undefined;
  /** The id of the probe, if the call was one. */
  readonly probeId?: string | undefined;
};

/** The end of a pause. `Retry-After` lengthens it, to `maxOpenSeconds` at most: a longer one stops all calls for one answer. */
const pauseEnd = (seconds: number, { now, retryAt = 0 }: Failure, { maxOpenSeconds }: BreakerSettings) =>
  Math.max(now + seconds * 1_000, Math.min(retryAt, now + maxOpenSeconds * 1_000));

const withFailing = (state: BreakerState, extraction: string): readonly string[] =>
  [...state.failing.filter((one) => one !== extraction), extraction].slice(-mostFailing);

const afterFailureOfClosed = (
  state: BreakerState,
  failure: Failure,
  settings: BreakerSettings,
): BreakerState => {
  if (isKnown(state, failure.extraction)) return state;
  const counted = {
    ...state,
    count: state.count + 1,
    failing: withFailing(state, failure.extraction),
  };
  if (counted.count < settings.failures) return counted;
  const { openSeconds: seconds } = settings;
  const until = pauseEnd(seconds, failure, settings);
  const { now: since, cause } = failure;
  return { ...counted, count: 0, opened: defined({ since, until, seconds, cause }) };
};

/**
 * The state after a call failed because the provider is in trouble. Returns the same state if nothing changes: calls that
 * were under way when the breaker opened do not prolong its pause, unless by `Retry-After`. A pause doubles when the probes
 * of two extractions failed, because a single one may be broken itself.
 */
export const afterFailure = (
  state: BreakerState,
  failure: Failure,
  settings: BreakerSettings,
): BreakerState => {
  const { opened } = state;
  const { extraction, now, cause, probeId, retryAt = 0 } = failure;
  if (opened === undefined) return afterFailureOfClosed(state, failure, settings);
  if (probeId !== undefined && opened.probe?.id === probeId) {
    const isSecond = opened.failedProbe !== undefined && opened.failedProbe !== extraction;
    const seconds = Math.min(isSecond ? 2 * opened.seconds : opened.seconds, settings.maxOpenSeconds);
    const until = pauseEnd(seconds, failure, settings);
    return {
      ...state,
      failing: withFailing(state, extraction),
      opened: defined({ since: opened.since, until, seconds, failedProbe: extraction, cause }),
    };
  }
  const asked = Math.min(retryAt, now + settings.maxOpenSeconds * 1_000);
  return asked > opened.until ? { ...state, opened: { ...opened, until: asked } } : state;
};

/** What a call showed that the provider answered. */
export type Success = {
  readonly extraction: string;
  /** The id of the probe, if the call was one. */
  readonly probeId?: string | undefined;
  /**
   * The call also closes an open breaker: it had counted as too slow, or was made although the breaker was open.
   */
  readonly closes?: boolean;
};

/**
 * The state after a call succeeded. It takes back the failure that was counted for its extraction. Returns the same state if
 * nothing changes, as after a probe that was replaced, or a call that was under way when the breaker opened.
 */
export const afterSuccess = (
  state: BreakerState,
  { extraction, probeId, closes = false }: Success,
): BreakerState => {
  const { opened, ...rest } = state;
  const failing = state.failing.filter((one) => one !== extraction);
  if (opened !== undefined) {
    const isProbe = probeId !== undefined && opened.probe?.id === probeId;
    return isProbe || closes ? { ...rest, count: 0, failing } : state;
  }
  const count = Math.max(0, state.count - 1);
  if (count === state.count && failing.length === state.failing.length) return state;
  return { ...rest, count, failing };
};

/** The probe ended without showing anything, so that another one may follow at once. */
export const withoutProbe = (state: BreakerState, probeId: string): BreakerState => {
  const { opened } = state;
  if (opened?.probe?.id !== probeId) return state;
  const { probe: _, ...rest } = opened;
  return { ...state, opened: rest };
};

export const pause = (state: BreakerState, reason: string, now: number): BreakerState => ({
  ...state,
  paused: { since: now, reason },
});
