import { defined } from '../defined.ts';

/** What a start is about. A group are the extractions that probably fail together: the extractions of one caller at one entity. */
export type BreakerSubject = { readonly extraction: string; readonly caller: string; readonly group: string };

/** While a breaker is open, one start at a time. Times are milliseconds of the epoch. */
export type Turn = {
  /** From then on the next start may take it. If somebody holds it: even if it was not given back, because its process has ended. */
  readonly at: number;
  readonly holder?: string;
};

/** What is known of a group in trouble. */
export type Group = {
  /** Its entity, or its product for extractions by consent. */
  readonly name: string;
  /**
   * Its extractions whose starts failed since the last accepted one, each with the time from which it counts. At most `failures`, in the
   * order of their reports.
   */
  readonly failed: readonly (readonly [extraction: string, at: number])[];
  readonly acceptedAt?: number;
  /** Until then its starts are held and take no turn of their caller, because its last turn showed nothing. */
  readonly passesUntil?: number;
  /** `pause`: between two of its turns, in seconds. */
  readonly opened?: Cause & { readonly since: number; readonly pause: number; readonly turn: Turn };
};

/** The last failure, as one of the public codes, or `slow`. It decides nothing. */
type Cause = { readonly cause?: string | undefined };

/** The breakers of one caller: one for each group in trouble, and one over all groups. */
export type BreakerState = {
  /** When the last start was accepted that reset a count or closed a breaker, of any group. */
  readonly acceptedAt?: number;
  /** At most `maxGroups`, the one that changed last at the end. */
  readonly groups: readonly Group[];
  /**
   * The breaker over all groups. Groups whose last start failed share one turn, and all others share another, so that broken
   * groups do not take the turns of the others. `taken` counts the turns of the others.
   */
  readonly opened?: Cause & {
    readonly since: number;
    readonly failing: Turn;
    readonly others: Turn;
    readonly taken: number;
  };
};

export type BreakerSettings = {
  /** So many failed extractions open the breaker of their group, and so many groups that of their caller. */
  readonly failures: number;
  /** The first pause between two turns. */
  readonly openSeconds: number;
  /** The longest pause of a group. */
  readonly maxOpenSeconds: number;
  /** For how long a turn can be held. Longer than start-task can run. */
  readonly turnSeconds: number;
};

export const noTrouble: BreakerState = { groups: [] };

/** With names of 12 letters, 50 groups are 1.3 KB if nothing failed in any, 2.4 KB with one failed extraction each, and 6.8 KB with five. */
const maxGroups = 50;

/** A group is forgotten an hour after its last failure, unless it is open. */
const forgetMs = 3_600_000;

/** A group of which a start was accepted within this time probably has healthy extractions too, so its pause stays short. */
const recentMs = 600_000;

/**
 * A slow start counts from 3 s before its report, so not at all if another of its group was accepted since. Otherwise, while a few
 * of very many starts are slow, each is written into the one item of their caller and taken back at once. With more than 3 s, a
 * breaker opens late if most starts hang (decision 18).
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

/** If there are too many, those that are not open are forgotten first, the oldest before the others, and never this one. */
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

/** Whether a start of this group may be made now. `turn`: only by who takes the turn. */
export const mayStart = (state: BreakerState, name: string, now: number): 'yes' | 'no' | 'turn' => {
  const group = groupOf(state, name);
  const shared = state.opened?.[isFailing(group) ? 'failing' : 'others'];
  const turns = [group.opened?.turn, shared].filter((turn) => turn !== undefined);
  if (turns.length === 0) return 'yes';
  const waitsForOthers = shared !== undefined && now < (group.passesUntil ?? 0);
  return waitsForOthers || turns.some(({ at }) => now < at) ? 'no' : 'turn';
};

/** The turns that a start of this group needs, by name: that of its group, and one of those that the groups of its caller share. */
export const turnsOf = (state: BreakerState, name: string): readonly string[] => {
  const group = groupOf(state, name);
  const shared = isFailing(group) ? '* failing' : '* others';
  return [...(group.opened === undefined ? [] : [name]), ...(state.opened === undefined ? [] : [shared])];
};

/** The last failure that a hold of this group is due to. */
export const causeOfHold = (state: BreakerState, name: string): string =>
  groupOf(state, name).opened?.cause ?? state.opened?.cause ?? 'slow';

/** Who takes or has a turn, for a start of this group. */
type Taker = { readonly holder: string; readonly name: string; readonly now: number };

/** Takes the turns that a start of this group needs, unless one of them is not free. Returns the same state then. */
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

/** Whether this process holds a turn. A turn that it held for too long may be another's by now. */
export const holdsTurn = ({ opened, groups }: BreakerState, holder: string): boolean =>
  [opened?.failing, opened?.others, ...groups.map((group) => group.opened?.turn)].some(
    (turn) => turn?.holder === holder,
  );

/** What a failed start showed. */
export type Failure = {
  /** `slow`: the start is still under way. */
  readonly kind: 'failed' | 'slow';
  readonly extraction: string;
  readonly name: string;
  readonly now: number;
  readonly cause?: string | undefined;
  /** When the provider asked to be called again, by a 503 with `Retry-After`. */
  readonly retryAt?: number | undefined;
  /** The last accepted start of the group that this process saw. */
  readonly acceptedAt?: number | undefined;
  /** The holder of the turn, if the start was made in one. */
  readonly holder?: string | undefined;
  /** From 0 to 1. The turns of groups that did not fail are drawn, so that no rhythm of requests meets them each time. */
  readonly random: number;
};

/** `Retry-After` lengthens a pause of the group to `maxOpenSeconds` at most: a longer one stops all starts for one answer. */
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
    // It was under way when the breaker opened.
    const asked = turnAfter(failure, 0, settings).at;
    return asked > opened.turn.at ? { ...opened, turn: { ...opened.turn, at: asked } } : opened;
  }
  if (kind === 'slow') return opened;
  const pause = now - acceptedAt < recentMs ? openSeconds : Math.min(2 * opened.pause, maxOpenSeconds);
  return { ...opened, pause, turn: turnAfter(failure, pause, settings), cause };
};

/** The pause before the next turn of the groups that did not fail. With the defaults 5, 10, 20 and then 30 s, each ± 50 %. */
const drawnPause = (taken: number, { openSeconds }: BreakerSettings, random: number): number =>
  Math.min(openSeconds, (openSeconds / 6) * 2 ** taken) * (0.5 + random);

/** The caller's breaker after a failure. Undefined while too few groups fail. A failure in a turn begins the next pause. */
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
 * The state after a start failed because the provider or the entity is in trouble. An extraction counts once, until a start of
 * its group is accepted. A group counts for its caller once, when it begins to fail. A start that is slow in a turn keeps the turn,
 * so that one hanging start at a time is made. The turn of the groups that did not fail is freed, because a healthy one may be
 * among the groups that wait for this turn.
 * Returns the same state if nothing changes.
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
 * The state after a start was accepted, which closes the breakers of its group and of its caller. `at` may be some seconds ago:
 * what failed since then stays counted. Returns the same state if nothing changes.
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

/** The state after a turn that showed nothing, such as a start that is refused with a 4xx. Another group may have it at once. */
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
