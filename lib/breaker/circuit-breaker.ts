import { defined } from '../defined.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { changeItem, type Known, readItem, type SharedItemStore } from '../shared-item/shared-item.ts';
import {
  afterAccepted,
  afterFailure,
  afterNothing,
  type BreakerSettings,
  type BreakerState,
  type BreakerSubject,
  causeOfHold,
  holdsTurn,
  isFailingIn,
  mayOpenSoon,
  mayStart,
  takeTurn,
} from './breaker-state.ts';
import { formatBreakerState, parseBreakerState } from './stored-breaker.ts';

/**
 * Whether a start may be made. `turn`: a breaker is open, and this start, after a login, may close it. The `cause` of `held` is the last
 * failure that kept the breaker open, or `paused`.
 */
export type Admission = { readonly kind: 'held'; readonly cause: string } | Passed;

/** An admitted start. */
export type Passed =
  | { readonly kind: 'pass'; readonly about: BreakerSubject }
  | { readonly kind: 'turn'; readonly about: BreakerSubject; readonly holder: string };

/** The breakers of starts. They throw nothing, because a breaker must not cause an outage. */
export interface CircuitBreaker {
  /** With `onlyCheck`, no start will be made, so no turn is taken. */
  admit(about: BreakerSubject, options: { readonly onlyCheck: boolean }): Promise<Admission>;
  /**
   * Records what an admitted start showed. Every admitted start is reported once, and a slow one twice: while it is under way, and at its
   * end. A failure counts in the caller's item. A group's breaker opens after `failures` extractions, and the caller's after as many
   * groups. Returns whether this was the group's first failure since an accepted start. Such first failures in every group may be due to
   * the rate. The breaker handles those that follow in one group.
   */
  report(passed: Passed, shown: Shown): Promise<boolean>;
}

type CircuitBreakerDeps = {
  readonly store: SharedItemStore;
  readonly settings: BreakerSettings;
  readonly isPaused: () => Promise<boolean>;
  readonly now: () => Date;
  readonly random: () => number;
  readonly newId: () => string;
  readonly telemetry: Telemetry;
};

/**
 * How long a process trusts the state that it read, unless a failure is counted in that state. So a healthy process reads almost nothing.
 * After a breaker has opened, a process makes at most one start. If that fails, the process writes it, and the write returns the current
 * state.
 */
const cacheMs = 5_000;

/** A process serves few groups. If it forgets an accepted start, at most the failures before it are counted too. */
const maxAccepted = 50;

/** The names of groups with an open breaker. `*` is the breaker over all groups. */
const openIn = ({ opened, groups }: BreakerState): readonly string[] =>
  [...groups, { name: '*', opened }]
    .flatMap(({ name, opened: own }) => (own === undefined ? [] : [name]))
    .sort();

const never = Number.NEGATIVE_INFINITY;

type Memory = {
  /** Undefined if the item could not be read. It is read again after 5 s. */
  known?: Known<BreakerState> | undefined;
  readAt: number;
  /** When this process last wrote the item. The write contained all starts accepted before. */
  changedAt: number;
  /** When the last start of each group was accepted. */
  readonly accepted: Map<string, number>;
};

/** The breakers of one process. All processes share their state (design, section 3). */
export const createCircuitBreaker = (deps: CircuitBreakerDeps): CircuitBreaker => {
  const { store, settings, newId, telemetry } = deps;
  const time = (): number => deps.now().getTime();
  const memories = new Map<string, Memory>();

  const memoryOf = (caller: string): Memory => {
    const memory = memories.get(caller) ?? { readAt: never, changedAt: never, accepted: new Map() };
    memories.set(caller, memory);
    return memory;
  };

  const remember = (memory: Memory, known: Known<BreakerState> | undefined): void => {
    memory.known = known;
    memory.readAt = time();
    if (known?.isDamaged !== true) return;
    telemetry.count('BreakerUnavailable');
    telemetry.log('The item of a breaker is damaged or of a newer version; the damaged part holds nothing.');
  };

  const unavailable = (error: unknown): void => {
    telemetry.count('BreakerUnavailable');
    telemetry.failure('The state of the breaker is not available; the call is made.', error);
  };

  const isFresh = ({ known, readAt }: Memory, group: string): boolean =>
    time() - readAt < cacheMs && (known === undefined || !mayOpenSoon(known.state, group));

  /** The state, at most 5 s old. Undefined if it could not be read. */
  const current = async ({ caller, group }: BreakerSubject): Promise<BreakerState | undefined> => {
    const memory = memoryOf(caller);
    if (!isFresh(memory, group)) {
      try {
        remember(memory, await readItem(store, caller, parseBreakerState, deps.now()));
      } catch (error) {
        remember(memory, undefined);
        unavailable(error);
      }
    }
    return memory.known?.state;
  };

  const withAccepted = (state: BreakerState, { accepted, changedAt }: Memory): BreakerState =>
    [...accepted].reduce(
      (known, [group, at]) => (at > changedAt ? afterAccepted(known, group, at) : known),
      state,
    );

  const change = async (
    { caller }: BreakerSubject,
    decide: (state: BreakerState) => BreakerState,
  ): Promise<BreakerState> => {
    const memory = memoryOf(caller);
    const { before, after } = await changeItem(
      store,
      caller,
      (state) => decide(withAccepted(state, memory)),
      {
        parse: parseBreakerState,
        format: formatBreakerState,
        now: deps.now,
        newVersion: newId,
      },
    );
    remember(memory, after);
    memory.changedAt = time();
    const [was, is] = [openIn(before), openIn(after.state)];
    if (is.some((name) => !was.includes(name))) telemetry.count('BreakerOpened');
    if (is.join() !== was.join()) telemetry.log('Breakers opened or closed.', { caller, was, is });
    return after.state;
  };

  const tryToChange = async (...[about, decide]: Parameters<typeof change>): Promise<void> => {
    try {
      await change(about, decide);
    } catch (error) {
      unavailable(error);
    }
  };

  const admitUnlessOpen = async (about: BreakerSubject, onlyCheck: boolean): Promise<Admission> => {
    const { group: name } = about;
    let state = await current(about);
    const holder = newId();
    if (!onlyCheck && state !== undefined && mayStart(state, name, time()) === 'turn') {
      state = await change(about, (before) => takeTurn(before, { holder, name, now: time() }, settings));
      if (holdsTurn(state, holder)) return { kind: 'turn', about, holder };
    }
    if (state === undefined) return { kind: 'pass', about };
    if (mayStart(state, name, time()) === 'yes') return { kind: 'pass', about };
    return { kind: 'held', cause: causeOfHold(state, name) };
  };

  const reportAccepted = async (about: BreakerSubject): Promise<void> => {
    const { group: name } = about;
    const memory = memoryOf(about.caller);
    const { accepted } = memory;
    const state = time() - memory.readAt < cacheMs ? memory.known?.state : await current(about);
    if (state !== undefined && afterAccepted(state, name, time()) !== state) {
      return tryToChange(about, (before) => afterAccepted(before, name, time()));
    }
    accepted.delete(name);
    accepted.set(name, time());
    const [oldest] = accepted.keys();
    if (oldest !== undefined && accepted.size > maxAccepted) accepted.delete(oldest);
  };

  return {
    admit: async (about, { onlyCheck }) => {
      let admission: Admission = { kind: 'pass', about };
      try {
        admission = (await deps.isPaused())
          ? { kind: 'held', cause: 'paused' }
          : await admitUnlessOpen(about, onlyCheck);
      } catch (error) {
        unavailable(error);
      }
      if (admission.kind === 'held') telemetry.count('StartsHeld');
      return admission;
    },

    report: async (passed, shown) => {
      const { about } = passed;
      const { extraction, group: name } = about;
      const holder = passed.kind === 'turn' ? passed.holder : undefined;
      if (shown.kind === 'accepted') {
        await reportAccepted(about);
        return false;
      }
      if (shown.kind === 'nothing') {
        const turn = holder && { holder, name };
        if (turn)
          await tryToChange(about, (state) => afterNothing(state, { ...turn, now: time() }, settings));
        return false;
      }
      const acceptedAt = memoryOf(about.caller).accepted.get(name);
      const failure = defined({ extraction, name, holder, acceptedAt, cause: shown.kind, ...shown });
      let isFirst = false;
      await tryToChange(about, (state) => {
        isFirst = !isFailingIn(state, name);
        return afterFailure(state, { ...failure, now: time(), random: deps.random() }, settings);
      });
      // A breaker may open before a slow start is accepted. That start then has to read the state and close it.
      if (shown.kind === 'slow' && holder === undefined) memoryOf(about.caller).readAt = never;
      return isFirst;
    },
  };
};

/** What a start showed about the entity and the provider. */
export type Shown =
  /** A 2xx with a task id. */
  | { readonly kind: 'accepted' }
  /** The entity or the provider is in trouble. */
  | { readonly kind: 'failed'; readonly cause?: string; readonly retryAt?: number }
  /** The start is still under way after so long that it counts as failed. */
  | { readonly kind: 'slow' }
  /** No call was made, or it failed for a reason of its own, such as a 4xx or 429. */
  | { readonly kind: 'nothing' };
