/** The calls that one breaker is for: those that start tasks, and those that read them. */
export const breakerNames = ['starts', 'reads'] as const;

export type BreakerName = (typeof breakerNames)[number];

/** While open, no call is made until `until`. Then one elected probe decides whether the breaker closes. */
export type Opened = {
  readonly since: number;
  readonly until: number;
  /** The length of the current pause, in seconds. A failed probe doubles it. */
  readonly seconds: number;
  /** The elected probe. After `until`, another one may be elected, because this one was probably interrupted. */
  readonly probe?: { readonly id: string; readonly until: number };
};

/** One breaker. Times are milliseconds of the epoch. */
export type BreakerState = {
  /** When the latest failures happened, the oldest first. At most as many as open the breaker. */
  readonly failures: readonly number[];
  /** How many calls have failed since the last one that succeeded. Absent for none. */
  readonly inARow?: number;
  readonly opened?: Opened;
  /** Set by an operator. No call is made, and no probe, until an operator resumes. */
  readonly paused?: { readonly since: number; readonly reason: string };
};

export type BreakerSettings = {
  /** This many failures within `windowSeconds`, or in a row, open the breaker. */
  readonly failures: number;
  readonly windowSeconds: number;
  /** The first pause. */
  readonly openSeconds: number;
  /** The longest pause. */
  readonly maxOpenSeconds: number;
  /** For how long no other probe is elected. Longer than the process of a probe can run. */
  readonly probeSeconds: number;
};

export type BreakerPhase = 'closed' | 'open' | 'half-open' | 'paused';

export const closedBreaker: BreakerState = { failures: [] };

export const phaseOf = ({ paused, opened }: BreakerState, now: number): BreakerPhase => {
  if (paused !== undefined) return 'paused';
  if (opened === undefined) return 'closed';
  return now < opened.until ? 'open' : 'half-open';
};

const windowStart = (now: number, { windowSeconds }: BreakerSettings): number => now - windowSeconds * 1_000;

/** Whether a closed breaker has counted a failure that still matters, so that it may open with the next call. */
export const mayOpenSoon = (state: BreakerState, now: number, settings: BreakerSettings): boolean =>
  phaseOf(state, now) === 'closed' &&
  (state.inARow !== undefined || state.failures.some((at) => at > windowStart(now, settings)));

/** Whether a call may be made now. `as-probe`: only by the process that is elected. */
export const mayCall = (state: BreakerState, now: number): 'yes' | 'no' | 'as-probe' => {
  switch (phaseOf(state, now)) {
    case 'closed':
      return 'yes';
    case 'half-open':
      return now < (state.opened?.probe?.until ?? 0) ? 'no' : 'as-probe';
    default:
      return 'no';
  }
};

/** Elects a probe, unless a call may not be made as one. Returns the same state then. */
export const electProbe = (
  state: BreakerState,
  id: string,
  now: number,
  { probeSeconds }: BreakerSettings,
): BreakerState => {
  const { opened } = state;
  if (opened === undefined || mayCall(state, now) !== 'as-probe') return state;
  return { ...state, opened: { ...opened, probe: { id, until: now + probeSeconds * 1_000 } } };
};

/** What a failed call showed. */
export type Failure = {
  readonly now: number;
  /** No call may be made before this time, as the provider asked. */
  readonly retryAt?: number;
  /** The id of the probe, if the call was one. */
  readonly probeId?: string;
};

const openUntil = (
  { paused, opened }: BreakerState,
  until: number,
  seconds: number,
  now: number,
): BreakerState => ({
  failures: [],
  opened: { since: opened?.since ?? now, until, seconds },
  ...(paused === undefined ? {} : { paused }),
});

/** Counts a failure, and opens at the threshold, or at once if the provider asked to wait. */
const afterFailureOfClosed = (
  state: BreakerState,
  { now, retryAt }: { readonly now: number; readonly retryAt: number },
  settings: BreakerSettings,
): BreakerState => {
  const inWindow = state.failures.filter((at) => at > windowStart(now, settings));
  const failures = [...inWindow, now].slice(-settings.failures);
  const inARow = (state.inARow ?? 0) + 1;
  const isEnough = Math.max(failures.length, inARow) >= settings.failures;
  if (!isEnough && retryAt <= now) return { ...state, failures, inARow };
  const pauseEnds = isEnough ? now + settings.openSeconds * 1_000 : 0;
  return openUntil(state, Math.max(pauseEnds, retryAt), settings.openSeconds, now);
};

/**
 * The state after a call failed because the provider is in trouble. Returns the same state if nothing changes: calls that
 * were under way when the breaker opened do not prolong its pause.
 */
export const afterFailure = (
  state: BreakerState,
  { now, retryAt = 0, probeId }: Failure,
  settings: BreakerSettings,
): BreakerState => {
  const { opened } = state;
  if (opened === undefined) return afterFailureOfClosed(state, { now, retryAt }, settings);
  if (probeId !== undefined && opened.probe?.id === probeId) {
    const seconds = Math.min(2 * opened.seconds, settings.maxOpenSeconds);
    return openUntil(state, Math.max(now + seconds * 1_000, retryAt), seconds, now);
  }
  return retryAt > opened.until ? { ...state, opened: { ...opened, until: retryAt } } : state;
};

/** The state after a call succeeded that was no probe. Returns the same state unless calls have failed in a row. */
export const afterSuccess = (state: BreakerState): BreakerState => {
  if (state.inARow === undefined) return state;
  const { inARow: _, ...rest } = state;
  return rest;
};

/** The state after a probe succeeded: closed. Returns the same state if it is not the elected probe any more. */
export const afterProbe = (state: BreakerState, probeId: string): BreakerState => {
  if (state.opened?.probe?.id !== probeId) return state;
  const { opened: _, ...closed } = state;
  return closed;
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
