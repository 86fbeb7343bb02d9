import { defined } from '../defined.ts';

/** The calls that one breaker is for: those that start tasks, and those that read them. */
export const breakerNames = ['starts', 'reads'] as const;

export type BreakerName = (typeof breakerNames)[number];

/**
 * The extraction that a call is about, by `shortIdOf`, and those that probably fail with it: the same caller at the same bank.
 */
export type Subject = { readonly extraction: string; readonly group: string };

/** The pause of a group. */
export type Held = {
  readonly until: number;
  /** Its length in seconds, without what a `Retry-After` adds. */
  readonly seconds: number;
  /** The extraction of the last probe of the group whose call was made and failed. */
  readonly failedProbe?: string;
};

/** While open, no call is made until `until`. Then one elected probe decides whether the breaker closes. */
export type Opened = {
  readonly since: number;
  /** The end of a pause that is always as long as the first. */
  readonly until: number;
  /** The length of that pause, in seconds. */
  readonly seconds: number;
  /**
   * The groups whose calls opened it or kept it open may wait longer. So a broken group, however large, neither takes the turns
   * of the others nor makes them wait for its pauses.
   */
  readonly groups: Readonly<Record<string, Held>>;
  /** The elected probe. After `until`, another one may be elected, because this one was probably interrupted. */
  readonly probe?: { readonly id: string; readonly until: number };
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

/** When a probe follows at the latest, if anybody waits. One of a group that did not fail may come earlier, from `until` on. */
export const nextProbeAt = ({ until, groups }: Opened): number => {
  const ends = Object.values(groups).map((held) => held.until);
  return ends.length === 0 ? until : Math.max(until, Math.min(...ends));
};

export type BreakerPhase = 'closed' | 'open' | 'half-open' | 'paused';

export const closedBreaker: BreakerState = { count: 0, failing: [] };

/** 200 names of 12 characters are 2.6 KB of the item: a write of 3 units, and a read of half a unit. */
const mostFailing = 200;

/** 20 groups with their pauses are 1.8 KB of the item. One whose pause ends sooner is forgotten, and may probe then. */
const mostGroups = 20;

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

/** The same names, with this one as the last. */
const withLast = (names: readonly string[], name: string): readonly string[] => [
  ...names.filter((one) => one !== name),
  name,
];

const isKnown = ({ failing }: BreakerState, extraction: string): boolean => failing.includes(extraction);

/**
 * Whether a call about this extraction may be made now. `as-probe`: only by the process that is elected. An extraction whose
 * last call failed would show nothing about the others, so that it is a probe only after no other came for one pause.
 */
export const mayCall = (
  state: BreakerState,
  { extraction, group }: Subject,
  now: number,
): 'yes' | 'no' | 'as-probe' => {
  const phase = phaseOf(state, now);
  if (phase === 'closed') return 'yes';
  if (phase !== 'half-open' || state.opened === undefined) return 'no';
  const { probe, groups, ...pause } = state.opened;
  if (probe !== undefined && now < probe.until) return 'no';
  const { until, seconds } = groups[group] ?? pause;
  return now < (isKnown(state, extraction) ? until + seconds * 1_000 : until) ? 'no' : 'as-probe';
};

/** Elects a probe, unless a call may not be made as one. Returns the same state then. */
export const electProbe = (
  state: BreakerState,
  { id, now, ...subject }: Subject & { readonly id: string; readonly now: number },
  { probeSeconds }: BreakerSettings,
): BreakerState => {
  const { opened } = state;
  if (opened === undefined || mayCall(state, subject, now) !== 'as-probe') return state;
  return { ...state, opened: { ...opened, probe: { id, until: now + probeSeconds * 1_000 } } };
};

/** What a failed call showed. */
export type Failure = Subject & {
  readonly now: number;
  /** A status or a code, such as `http-503` or `ECONNREFUSED`, or `slow`. */
  readonly cause?: string | undefined;
  /** When the provider asked to be called again, by a 503 with `Retry-After`. */
  readonly retryAt?: number | undefined;
  /** The id of the probe, if the call was one. */
  readonly probeId?: string | undefined;
  /** The call that the breaker is for was not made: what failed was a login or the like, which changes nothing. */
  readonly isPreparation?: boolean;
};

/** `Retry-After` lengthens the pause of a group to `maxOpenSeconds` at most: a longer one stops all calls for one answer. */
const askedUntil = ({ now, retryAt = 0 }: Failure, { maxOpenSeconds }: BreakerSettings): number =>
  Math.min(retryAt, now + maxOpenSeconds * 1_000);

/** The groups, of which this one now has another pause. */
const withGroup = ({ groups }: Pick<Opened, 'groups'>, group: string, held: Held): Opened['groups'] => {
  const all = Object.entries({ ...groups, [group]: held });
  return Object.fromEntries(
    all.toSorted(([, one], [, other]) => other.until - one.until).slice(0, mostGroups),
  );
};

/** What opens it or keeps it open: everybody waits for a first pause, and the group that failed for all of its own. */
const openFor = (
  failure: Failure,
  before: Pick<Opened, 'since' | 'groups'>,
  held: Omit<Held, 'until'>,
  settings: BreakerSettings,
): Opened => {
  const { now, group, cause } = failure;
  const { openSeconds: seconds } = settings;
  const until = Math.max(now + held.seconds * 1_000, askedUntil(failure, settings));
  const groups = withGroup(before, group, { until, ...held });
  return defined({ since: before.since, until: now + seconds * 1_000, seconds, groups, cause });
};

const withFailing = (state: BreakerState, extraction: string): readonly string[] =>
  withLast(state.failing, extraction).slice(-mostFailing);

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
  const before = { since: failure.now, groups: {} };
  return {
    ...counted,
    count: 0,
    opened: openFor(failure, before, { seconds: settings.openSeconds }, settings),
  };
};

/**
 * The state after a call failed because the provider is in trouble. Returns the same state if nothing changes: calls that
 * were under way when the breaker opened do not prolong its pause, unless that of their group by `Retry-After`. The pause of
 * a group doubles when the probes of two of its extractions failed, because a single one may be broken itself. It does not
 * after a failed preparation: a probe that may have started a task is what the pauses are to be spare with.
 */
export const afterFailure = (
  state: BreakerState,
  failure: Failure,
  settings: BreakerSettings,
): BreakerState => {
  const { opened } = state;
  const { extraction, group, probeId, isPreparation = false } = failure;
  if (opened === undefined) return afterFailureOfClosed(state, failure, settings);
  const held = opened.groups[group];
  if (probeId !== undefined && opened.probe?.id === probeId) {
    const { seconds = settings.openSeconds, failedProbe } = held ?? {};
    const isSecond = !isPreparation && failedProbe !== undefined && failedProbe !== extraction;
    const next = defined({
      seconds: Math.min(isSecond ? 2 * seconds : seconds, settings.maxOpenSeconds),
      failedProbe: isPreparation ? failedProbe : extraction,
    });
    return {
      ...state,
      failing: withFailing(state, extraction),
      opened: openFor(failure, opened, next, settings),
    };
  }
  const until = askedUntil(failure, settings);
  if (until <= (held ?? opened).until) return state;
  const groups = withGroup(opened, group, { seconds: opened.seconds, ...held, until });
  return { ...state, opened: { ...opened, groups } };
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
