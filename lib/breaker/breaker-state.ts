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
  readonly opened?: Opened;
  /** Set by an operator. No call is made, and no probe, until an operator resumes. */
  readonly paused?: { readonly since: number; readonly reason: string };
};

export type BreakerSettings = {
  /** This many failures within `windowSeconds` open the breaker. */
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

/** Whether a closed breaker has counted a failure within the window, so that it may open with the next call. */
export const mayOpenSoon = (state: BreakerState, now: number, { windowSeconds }: BreakerSettings): boolean =>
  phaseOf(state, now) === 'closed' &&
  (state.failures.at(-1) ?? Number.NEGATIVE_INFINITY) > now - windowSeconds * 1_000;

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

const openUntil = (state: BreakerState, until: number, seconds: number, now: number): BreakerState => ({
  ...state,
  failures: [],
  opened: { since: state.opened?.since ?? now, until, seconds },
});

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
  if (opened === undefined) {
    const windowStart = now - settings.windowSeconds * 1_000;
    const failures = [...state.failures.filter((at) => at > windowStart), now].slice(-settings.failures);
    if (failures.length < settings.failures && retryAt <= now) return { ...state, failures };
    const pause = failures.length < settings.failures ? 0 : now + settings.openSeconds * 1_000;
    return openUntil(state, Math.max(pause, retryAt), settings.openSeconds, now);
  }
  if (probeId !== undefined && opened.probe?.id === probeId) {
    const seconds = Math.min(2 * opened.seconds, settings.maxOpenSeconds);
    return openUntil(state, Math.max(now + seconds * 1_000, retryAt), seconds, now);
  }
  return retryAt > opened.until ? { ...state, opened: { ...opened, until: retryAt } } : state;
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
