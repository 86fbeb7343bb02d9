import { changeItem, readItem } from '../shared-item/shared-item.ts';
import { isBusy, type Release, tickMs } from './decide-tick.ts';
import { isLeasedByAnother, leaseOf, parseRateState, type RateState, rateItem } from './rate-state.ts';
import { fromTheBeginning } from './read-line.ts';
import { type Dispatcher, type KnownRate, type Memory, runTick, type TickDeps } from './run-tick.ts';

export type DispatchDeps = TickDeps & {
  /**
   * Answers a callback token with success. If no execution waits with it any more, that counts as success. Throws if the answer is unknown.
   */
  readonly release: (waiting: Release['entry']) => Promise<void>;
  readonly wait: (milliseconds: number) => Promise<void>;
  /** Milliseconds until the timeout of this invocation. */
  readonly remainingMs: () => number;
  /**
   * Whether the schedule invoked it. Then it ends at once if there is nothing to do. Otherwise a start invoked it, which the index may show a
   * moment later.
   */
  readonly isScheduled: boolean;
};

/** How an invocation ended. `leased`: another dispatcher has the lease. */
export type DispatchResult = { readonly end: 'leased' | 'idle' | 'time-is-over'; readonly released: number };

/** An invocation stops this long before its timeout, so that its last tick can end and the lease is given back. */
const reserveMs = 10_000;

/**
 * If the dispatcher with the lease ends within this time, a new invocation waits for it. It is longer than a minute, the interval of the
 * schedule. So in the last minute of a dispatcher, some invocation comes and waits.
 */
const handOverMs = 65_000;

/** An invocation ends after this time without work. */
const idleMs = 15_000;

/** An invocation ends after this many failed ticks in a row. The schedule invokes the next one. */
const maxFailures = 5;

/** How often a released start is removed from the index, until that succeeds. */
const maxLeaves = 3;

const changeRate = async (
  { store, now, newId }: DispatchDeps,
  decide: (state: RateState, now: number) => RateState,
): Promise<KnownRate> => {
  const change = (state: RateState) => decide(state, now().getTime());
  const { after } = await changeItem(store, rateItem, change, {
    parse: parseRateState,
    now,
    newVersion: newId,
  });
  return after;
};

/**
 * Takes the lease. If another dispatcher has it and ends soon, waits for that, so that the line always has one. Otherwise returns
 * undefined.
 */
const takeLease = async (deps: DispatchDeps, dispatcher: Dispatcher): Promise<KnownRate | undefined> => {
  for (;;) {
    const after = await changeRate(deps, (state, now) =>
      isLeasedByAnother(state, dispatcher.holder, now)
        ? state
        : { ...state, lease: leaseOf(dispatcher, now) },
    );
    const { lease } = after.state;
    if (lease?.holder === dispatcher.holder) return after;
    const isEnding = lease !== undefined && lease.ends - deps.now().getTime() < handOverMs;
    if (!isEnding || deps.remainingMs() < reserveMs) return undefined;
    await deps.wait(tickMs);
  }
};

/** Gives the lease back for the next dispatcher. If this fails, the lease expires. */
const giveBack = async (deps: DispatchDeps, { holder }: Dispatcher): Promise<void> => {
  try {
    await changeRate(deps, (state) => {
      const { lease, ...rest } = state;
      return lease?.holder === holder ? rest : state;
    });
  } catch (error) {
    deps.telemetry.failure('The lease of the dispatcher could not be given back.', error);
  }
};

/** Answers the callback token and removes the start from the index. Returns whether the start was released. */
const releaseOne = async (
  { entry, afterMs }: Release,
  { release, line, wait, now, telemetry }: DispatchDeps,
): Promise<boolean> => {
  try {
    if (afterMs > 0) await wait(afterMs);
    await release(entry);
  } catch (error) {
    telemetry.failure('A start could not be released; a later tick does it.', error, entry);
    return false;
  }
  const releasedAt = now().toISOString();
  // A start that stays in the index would be released again, and cost a second permit.
  for (let tries = 0; tries < maxLeaves; tries += 1) {
    try {
      await line.leave(entry, releasedAt);
      return true;
    } catch (error) {
      telemetry.failure('A start that was released is still in the index.', error, entry);
      await wait(tickMs);
    }
  }
  return true;
};

/** The releases under way. No tick awaits them, because one AWS call that hangs must not hold other starts. */
const releasesOf = (deps: DispatchDeps) => {
  const underWay = new Set<Promise<void>>();
  const failed = new Set<string>();
  let released = 0;
  return {
    begin: (one: Release): void => {
      const ended = releaseOne(one, deps).then((isReleased) => {
        released += isReleased ? 1 : 0;
        if (!isReleased) failed.add(one.entry.callbackToken);
        underWay.delete(ended);
      });
      underWay.add(ended);
    },
    /** Returns the callback tokens whose release failed since the last call. */
    takeFailed: (): ReadonlySet<string> => {
      const tokens = new Set(failed);
      failed.clear();
      return tokens;
    },
    /** Waits for those under way. Returns how many starts were released. */
    settle: async (): Promise<number> => {
      await Promise.all(underWay);
      return released;
    },
  };
};

const isNeeded = async ({ store, line, now }: DispatchDeps): Promise<boolean> => {
  const { state } = await readItem(store, rateItem, parseRateState, now());
  return isBusy(state, { waiting: await line.next('', 1), now: now().getTime() });
};

/**
 * Runs one invocation of the dispatcher. It releases starts at the rate until the line is empty or its time is over. A lease ensures that
 * only one dispatcher releases at a time. Throws what the stores throw.
 *
 *     scheduled, and nothing to do          idle
 *     another dispatcher has the lease      leased; if that lease ends within 65 s, this one waits for it
 *     then in each second, a tick:
 *       read      the rate, the calls of the last seconds, the first in line, and the breakers of their callers
 *       decide    judges the calls (learn-rate.ts), and chooses by lane and breaker (choose-next.ts)
 *       write     the rate, with the lease, and the permits. If another process wrote first: decide again
 *       release   answers the callback token, then takes the start out of the index. If it fails: a later tick repeats it
 *     the lease is lost                     leased
 *     five ticks fail in a row              throws, and the lease expires; the schedule invokes the next one
 *     nothing to do for 15 s                idle
 *     10 s are left of the invocation       time-is-over; a start or the schedule invokes the next one
 */
export const dispatchStarts = async (deps: DispatchDeps): Promise<DispatchResult> => {
  const { wait, remainingMs, now, telemetry } = deps;
  const startedAt = now().getTime();
  const dispatcher = { holder: deps.newId(), endsAt: startedAt + remainingMs() };
  if (deps.isScheduled && !(await isNeeded(deps))) return { end: 'idle', released: 0 };
  const rate = await takeLease(deps, dispatcher);
  if (rate === undefined) return { end: 'leased', released: 0 };

  const releases = releasesOf(deps);
  let memory: Memory = {
    rate,
    next: undefined,
    cursors: fromTheBeginning,
    served: new Map(),
    turnsGivenAt: new Map(),
    chosenAt: new Map(),
    busyAt: startedAt,
    publishedAt: startedAt,
  };
  for (let failures = 0; ; ) {
    const tickedAt = now().getTime();
    try {
      const ticked = await runTick(dispatcher, memory, deps);
      if (ticked.kind === 'leased') return { end: 'leased', released: await releases.settle() };
      for (const one of ticked.releases) releases.begin(one);
      memory = ticked.memory;
      failures = 0;
    } catch (error) {
      failures += 1;
      telemetry.failure('A tick of the dispatcher failed; the next one goes on.', error);
      if (failures >= maxFailures) {
        await releases.settle();
        throw error;
      }
    }
    // A tick that failed does not know whether starts wait.
    const isIdle = failures === 0 && now().getTime() - memory.busyAt > idleMs;
    if (isIdle || remainingMs() < reserveMs) {
      const released = await releases.settle();
      await giveBack(deps, dispatcher);
      return { end: isIdle ? 'idle' : 'time-is-over', released };
    }
    await wait(Math.max(0, tickedAt + tickMs - now().getTime()));
    const failed = releases.takeFailed();
    const chosenAt = [...memory.chosenAt].filter(([token]) => !failed.has(token));
    memory = { ...memory, chosenAt: new Map(chosenAt) };
  }
};
