import { defined } from '../defined.ts';

/** What a start is about. A group is all extractions of one caller at one entity, which probably fail together. */
export type BreakerSubject = { readonly extraction: string; readonly caller: string; readonly group: string };

/** The right to make one start while a breaker is open. Times are milliseconds of the epoch. */
export type Turn = {
  /** From this time on, the next start may take the turn, even if its holder has not given it back. The holder's process has then ended. */
  readonly at: number;
  readonly holder?: string;
};

export type Group = {
  /** Its entity, or its product for extractions by consent. */
  readonly name: string;
  /**
   * The extractions whose starts failed since the last accepted one, each with the time from which it counts. At most `failures`, in the
   * order in which they were reported.
   */
  readonly failed: readonly (readonly [extraction: string, at: number])[];
  readonly acceptedAt?: number;
  /** Until this time, the group's starts are held and take no shared turn, because its last turn showed nothing. */
  readonly passesUntil?: number;
  /** The group's open breaker. `pause`: the seconds between two of its turns. */
  readonly opened?: Cause & { readonly since: number; readonly pause: number; readonly turn: Turn };
};

/** The public code of the last failure, or `slow`. It decides nothing. */
type Cause = { readonly cause?: string | undefined };

/** The breakers of one caller: one for each group in trouble, and one over all groups. */
export type BreakerState = {
  /** When a start of any group was last accepted, and thereby reset a count or closed a breaker. */
  readonly acceptedAt?: number;
  /** At most `maxGroups`. The group that changed last is at the end. */
  readonly groups: readonly Group[];
  /**
   * The breaker over all groups. Groups whose last start failed share one turn, and all others share another. So broken groups do not take
   * the turns of the others. `taken` counts the turns of the others.
   */
  readonly opened?: Cause & {
    readonly since: number;
    readonly failing: Turn;
    readonly others: Turn;
    readonly taken: number;
  };
};

export type BreakerSettings = {
  /** How many failed extractions open their group's breaker, and how many failing groups open their caller's. */
  readonly failures: number;
  readonly openSeconds: number;
  /** The longest pause of a group. */
  readonly maxOpenSeconds: number;
  /** How long a turn can be held. It is longer than start-task can run. */
  readonly turnSeconds: number;
};

export const noTrouble: BreakerState = { groups: [] };

/** With names of 12 letters, 50 groups take 1.3 KB without failures, 2.4 KB with one failed extraction each, and 6.8 KB with five. */
const maxGroups = 50;

/** A group is forgotten an hour after its last failure, unless it is open. */
const forgetMs = 3_600_000;

/** If a start of a group was accepted within this time, the group probably has healthy extractions too. So its pause stays short. */
const recentMs = 600_000;

/**
 * A slow start counts as of 3 s before its report. So it does not count if another start of its group was accepted since. Otherwise, if a
 * few of very many starts are slow, each would be written into the caller's item and taken back at once. With more than 3 s, a breaker
 * opens late if most starts hang (decision 18).
 */
const slowSinceMs = 3_000;

const groupOf = ({ groups }: BreakerState, name: string): Group =>
  groups.find((group) => group.name === name) ?? { name, failed: [] };

const isFailing = ({ failed }: Group): boolean => failed.length > 0;

/** Whether a start of this group failed since its last accepted one. */
export const isFailingIn = (state: BreakerState, name: string): boolean => isFailing(groupOf(state, name));

/** Whether the group began to fail after the last accepted start of its caller. */
const isNewlyFailing = ({ failed: [first] }: Group, { acceptedAt = 0 }: BreakerState): boolean =>
  first !== undefined && first[1] > acceptedAt;

const isAnyNewlyFailing = (state: BreakerState): boolean =>
  state.groups.some((group) => isNewlyFailing(group, state));

const isRemembered = ({ failed, acceptedAt = 0, passesUntil = 0, opened }: Group, now: number): boolean =>
  opened !== undefined ||
  now < passesUntil ||
  now - acceptedAt < recentMs ||
  now - (failed.at(-1)?.[1] ?? 0) < forgetMs;

/** Adds or replaces a group. If there are too many, the oldest group that is not open is forgotten, and never the one added. */
const withGroup = (state: BreakerState, group: Group, now: number): BreakerState => {
  const groups = [...state.groups.filter(({ name }) => name !== group.name), group].filter((one) =>
    isRemembered(one, now),
  );
  if (groups.length <= maxGroups) return { ...state, groups };
  const forgotten = groups.slice(0, -1).find(({ opened }) => opened === undefined) ?? groups[0];
  return { ...state, groups: groups.filter((one) => one !== forgotten) };
};

/** Whether the next failure of this group may open a breaker. */
export const mayOpenSoon = (state: BreakerState, name: string): boolean => {
  const group = groupOf(state, name);
  const counts = group.opened === undefined && isFailing(group);
  return counts || (state.opened === undefined && isAnyNewlyFailing(state));
};

/** Whether a start of this group may be made now. `turn`: only if it takes the turn. */
export const mayStart = (state: BreakerState, name: string, now: number): 'yes' | 'no' | 'turn' => {
  const group = groupOf(state, name);
  const shared = state.opened?.[isFailing(group) ? 'failing' : 'others'];
  const turns = [group.opened?.turn, shared].filter((turn) => turn !== undefined);
  if (turns.length === 0) return 'yes';
  const waitsForOthers = shared !== undefined && now < (group.passesUntil ?? 0);
  return waitsForOthers || turns.some(({ at }) => now < at) ? 'no' : 'turn';
};

/** The names of the turns that a start of this group needs: its group's turn, and one of its caller's two shared turns. */
export const turnsOf = (state: BreakerState, name: string): readonly string[] => {
  const group = groupOf(state, name);
  const shared = isFailing(group) ? '* failing' : '* others';
  return [...(group.opened === undefined ? [] : [name]), ...(state.opened === undefined ? [] : [shared])];
};

/** The last failure that kept the breaker open which holds this group. */
export const causeOfHold = (state: BreakerState, name: string): string =>
  groupOf(state, name).opened?.cause ?? state.opened?.cause ?? 'slow';

/** A start of a group that takes or holds a turn. */
type Taker = { readonly holder: string; readonly name: string; readonly now: number };

/** Takes the turns that a start of this group needs. Returns the same state if one of them is not free. */
export const takeTurn = (
  state: BreakerState,
  { holder, name, now }: Taker,
  { turnSeconds }: BreakerSettings,
): BreakerState => {
  if (mayStart(state, name, now) !== 'turn') return state;
  const turn: Turn = { at: now + turnSeconds * 1_000, holder };
  const { opened } = state;
  const group = groupOf(state, name);
  const own =
    group.opened === undefined
      ? state
      : withGroup(state, { ...group, opened: { ...group.opened, turn } }, now);
  if (opened === undefined) return own;
  const shared = isFailing(group)
    ? { ...opened, failing: turn }
    : { ...opened, others: turn, taken: opened.taken + 1 };
  return { ...own, opened: shared };
};

/** Whether this holder still has a turn. Another start may have taken a turn that was held for too long. */
export const holdsTurn = ({ opened, groups }: BreakerState, holder: string): boolean =>
  [opened?.failing, opened?.others, ...groups.map((group) => group.opened?.turn)].some(
    (turn) => turn?.holder === holder,
  );

export type Failure = {
  /** `slow`: the start is still under way. */
  readonly kind: 'failed' | 'slow';
  readonly extraction: string;
  readonly name: string;
  readonly now: number;
  readonly cause?: string | undefined;
  /** The time of a 503's `Retry-After`. */
  readonly retryAt?: number | undefined;
  /** When this process last saw an accepted start of the group. */
  readonly acceptedAt?: number | undefined;
  /** The holder of the turn, if the start was made in one. */
  readonly holder?: string | undefined;
  /** From 0 to 1. It varies the turns of groups that did not fail, so that a regular pattern of requests does not always take them. */
  readonly random: number;
};

/** `Retry-After` lengthens a group's pause to `maxOpenSeconds` at most. A longer pause would stop all starts because of one answer. */
const turnAfter = (
  { now, retryAt = now }: Failure,
  pause: number,
  { maxOpenSeconds }: BreakerSettings,
): Turn => ({
  at: Math.max(now + pause * 1_000, Math.min(retryAt, now + maxOpenSeconds * 1_000)),
});

const openedGroup = (group: Group, failure: Failure, settings: BreakerSettings): Group['opened'] => {
  const { kind, now, cause, holder } = failure;
  const { opened, failed, acceptedAt = 0 } = group;
  const { openSeconds, maxOpenSeconds } = settings;
  if (opened === undefined) {
    if (failed.length < settings.failures) return undefined;
    return { since: now, pause: openSeconds, turn: turnAfter(failure, openSeconds, settings), cause };
  }
  if (holder === undefined || opened.turn.holder !== holder) {
    // The start was under way when the breaker opened.
    const asked = turnAfter(failure, 0, settings).at;
    return asked > opened.turn.at ? { ...opened, turn: { ...opened.turn, at: asked } } : opened;
  }
  if (kind === 'slow') return opened;
  const pause = now - acceptedAt < recentMs ? openSeconds : Math.min(2 * opened.pause, maxOpenSeconds);
  return { ...opened, pause, turn: turnAfter(failure, pause, settings), cause };
};

/** The pause before the next turn of the groups that did not fail. By default 5, 10, 20 and then 30 s, each ± 50 %. */
const drawnPause = (taken: number, { openSeconds }: BreakerSettings, random: number): number =>
  Math.min(openSeconds, (openSeconds / 6) * 2 ** taken) * (0.5 + random);

/** The caller's breaker after a failure. Undefined while too few groups fail. If the failed start had a turn, the next pause begins. */
const openedCaller = (
  state: BreakerState,
  { kind, now, cause, holder, random }: Failure,
  settings: BreakerSettings,
): BreakerState['opened'] => {
  const { opened, groups } = state;
  const others = (taken: number): Turn => ({ at: now + drawnPause(taken, settings, random) * 1_000 });
  const failing: Turn = { at: now + settings.openSeconds * 1_000 };
  if (opened === undefined) {
    if (groups.filter((group) => isNewlyFailing(group, state)).length < settings.failures) return undefined;
    return defined({ since: now, failing, others: others(0), taken: 0, cause });
  }
  if (holder === undefined) return opened;
  if (opened.failing.holder === holder)
    return kind === 'slow' ? opened : defined({ ...opened, failing, cause });
  if (opened.others.holder === holder) return defined({ ...opened, others: others(opened.taken), cause });
  return opened;
};

/**
 * The state after a start failed because the provider or the entity is in trouble. An extraction counts once, until a start of its group is
 * accepted. A group counts once for its caller, when it begins to fail. A slow start keeps its turn, so that only one hanging start is made
 * at a time. But it frees the turn of the groups that did not fail, because a healthy group may wait for that turn. Returns the same state
 * if nothing changes.
 */
export const afterFailure = (
  state: BreakerState,
  failure: Failure,
  settings: BreakerSettings,
): BreakerState => {
  const { extraction, kind, name, now, holder } = failure;
  const failedAt = kind === 'slow' ? now - slowSinceMs : now;
  const found = groupOf(state, name);
  const before = isRemembered(found, now) ? found : { name, failed: [] };
  const isKnown =
    before.failed.length >= settings.failures || before.failed.some(([one]) => one === extraction);
  const failed: Group['failed'] = isKnown ? before.failed : [...before.failed, [extraction, failedAt]];
  const acceptedAt = Math.max(before.acceptedAt ?? 0, failure.acceptedAt ?? 0);
  if (kind === 'slow' && holder === undefined && failedAt <= acceptedAt) return state;
  const group: Group = { ...before, failed, ...(acceptedAt > 0 ? { acceptedAt } : {}) };
  const ownOpened = openedGroup(group, failure, settings);
  const known =
    isKnown && ownOpened === before.opened
      ? state
      : withGroup(state, defined({ ...group, opened: ownOpened }), now);
  const opened = openedCaller(known, failure, settings);
  return opened === known.opened ? known : defined({ ...known, opened });
};

const unlessBefore = <Open extends { readonly since: number }>(
  opened: Open | undefined,
  at: number,
): Open | undefined => (opened !== undefined && opened.since > at ? opened : undefined);

/**
 * The state after a start was accepted at the time `at`. It closes the breakers of its group and its caller. Failures after `at` still
 * count. Returns the same state if nothing changes.
 */
export const afterAccepted = (state: BreakerState, name: string, at: number): BreakerState => {
  const before = state.groups.find((group) => group.name === name);
  const matters = before !== undefined && isFailing(before);
  if (!matters && state.opened === undefined && !isAnyNewlyFailing(state)) return state;
  const { groups } =
    before === undefined
      ? state
      : withGroup(
          state,
          defined({
            ...before,
            failed: before.failed.filter(([, failedAt]) => failedAt > at),
            acceptedAt: Math.max(before.acceptedAt ?? 0, at),
            opened: unlessBefore(before.opened, at),
          }),
          at,
        );
  return defined({
    groups,
    acceptedAt: Math.max(state.acceptedAt ?? 0, at),
    opened: unlessBefore(state.opened, at),
  });
};

/** The state after a turn that showed nothing, such as a start that was refused with a 4xx. Another group may take the turn at once. */
export const afterNothing = (
  state: BreakerState,
  { holder, name, now }: Taker,
  { openSeconds }: BreakerSettings,
): BreakerState => {
  if (!holdsTurn(state, holder)) return state;
  const free = (turn: Turn): Turn => (turn.holder === holder ? { at: now } : turn);
  const { opened } = state;
  const group = groupOf(state, name);
  const skipping = opened === undefined ? group : { ...group, passesUntil: now + openSeconds * 1_000 };
  const freed =
    group.opened === undefined
      ? skipping
      : { ...skipping, opened: { ...group.opened, turn: free(group.opened.turn) } };
  const next = withGroup(state, freed, now);
  if (opened === undefined) return next;
  return { ...next, opened: { ...opened, failing: free(opened.failing), others: free(opened.others) } };
};
