import type { About } from '../breaker/breaker-state.ts';
import { type BreakerStore, changeItem, type Known, readItem } from '../breaker/breaker-store.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { afterOverload, afterRefusal, isBeforeCut } from './learn-rate.ts';
import {
  afterReopening,
  budget,
  hasLine,
  isCounting,
  parseRateState,
  type RateState,
  rateAt,
  rateItem,
  reopeningKey,
  reopeningRates,
  take,
  withLine,
} from './rate-state.ts';
import { bucketOf, type LineEntry, type StartLineStore } from './start-line.ts';

/** What an admitted start showed about the provider's rate. */
export type ShownToRate =
  | { readonly kind: 'accepted' }
  /** A 429 that names neither quota nor user. */
  | { readonly kind: 'refused'; readonly retryAt: number | undefined }
  /** A 5xx, or no answer in time. */
  | { readonly kind: 'overloaded'; readonly admittedAt: number };

/** Why a start asks. */
export type Asking = {
  /** The dispatcher released it, which has counted it already. */
  readonly isReleased: boolean;
  /** It has the turn of a breaker, which waits for nothing. */
  readonly isTurn: boolean;
};

/** The rate of starts, in one process. It throws nothing but what `wait` throws: a limiter must never be the outage. */
export interface StartLimiter {
  /** Whether the start may be made now. If not, it has to wait in line. */
  admit(about: About, asking: Asking): Promise<'go' | 'wait'>;
  /** Takes what an admitted start at a bank or product showed. */
  report(group: string, shown: ShownToRate): Promise<void>;
  /** Breakers of these groups closed, `*` for that over all groups of the caller. */
  reopen(caller: string, groups: readonly string[]): Promise<void>;
  /** Puts a start in line, and sees to it that a dispatcher runs. `isHeld`: by a breaker or an operator. Throws what the store throws. */
  wait(entry: LineEntry, isHeld: boolean): Promise<void>;
}

export type StartLimiterDeps = {
  /** The table `Breakers`. */
  readonly store: BreakerStore;
  readonly line: StartLineStore;
  /** The starts a second by hand, or of the setting. Undefined: none is set. */
  readonly limit: () => Promise<number | undefined>;
  /** Invokes a dispatcher, and does not wait for its end. */
  readonly wakeDispatcher: () => Promise<void>;
  readonly now: () => Date;
  readonly newVersion: () => string;
  readonly telemetry: Telemetry;
};

/** For how long a process trusts the rate that it read. Until the first rate is known, it reads for each start. */
const cacheMs = 1_000;

/** A process asks for a dispatcher once in so long. */
const wakeEveryMs = 1_000;

const never = Number.NEGATIVE_INFINITY;

export const createStartLimiter = (deps: StartLimiterDeps): StartLimiter => {
  const { store, line, newVersion, telemetry } = deps;
  const time = (): number => deps.now().getTime();
  let known: Known<RateState> | undefined;
  let readAt = never;
  let wokenAt = never;
  /** This process wrote that there is a line. Of all processes one does so in some seconds, and that one wakes the dispatcher. */
  let hasRenewed = false;

  const unavailable = (error: unknown): void => {
    telemetry.count('RateUnavailable');
    telemetry.failure('The rate of starts is not available; the start is made.', error);
  };

  const remember = (item: Known<RateState>): Known<RateState> => {
    known = item;
    readAt = time();
    if (item.isDamaged) telemetry.count('RateUnavailable');
    return item;
  };

  const current = async (): Promise<Known<RateState>> => {
    const isFresh = time() - readAt < cacheMs && known?.state.measuring === undefined;
    if (known !== undefined && isFresh) return known;
    return remember(await readItem(store, rateItem, parseRateState, deps.now()));
  };

  const change = async (decide: (state: RateState) => RateState): Promise<void> => {
    const { before, after } = await changeItem(store, rateItem, decide, {
      parse: parseRateState,
      known: await current(),
      now: deps.now,
      newVersion,
    });
    remember(after);
    hasRenewed ||= after.state.lineUntil > before.lineUntil;
  };

  /** Unless one runs, or another process wakes it. A failure is left to the schedule. */
  const wake = async (isCertain: boolean): Promise<void> => {
    const isAlive = (known?.state.lease?.until ?? 0) > time();
    if (isAlive || !(isCertain || hasRenewed) || time() - wokenAt < wakeEveryMs) return;
    wokenAt = time();
    hasRenewed = false;
    try {
      await deps.wakeDispatcher();
    } catch (error) {
      telemetry.failure('The dispatcher could not be invoked; its schedule does it.', error);
    }
  };

  /** Takes a place by the clock, if there is no line. */
  const takeByClock = async (limit: number | undefined): Promise<'go' | 'wait'> => {
    let answer: 'go' | 'wait' = 'wait';
    await change((state) => {
      const now = time();
      const rate = rateAt(state, limit, now);
      answer = !hasLine(state, now) && budget(state, rate, now) > 0 ? 'go' : 'wait';
      return answer === 'go' ? take(state, rate, now) : withLine(state, now);
    });
    return answer;
  };

  return {
    admit: async ({ caller, group }, { isReleased, isTurn }) => {
      if (isReleased || isTurn) return 'go';
      try {
        const { state } = await current();
        const now = time();
        if (reopeningRates(state, caller, group, now).length > 0) return 'wait';
        const limit = await deps.limit();
        const rate = rateAt(state, limit, now);
        if (rate === undefined && now >= state.notBefore) return 'go';
        return hasLine(state, now) ? 'wait' : await takeByClock(limit);
      } catch (error) {
        unavailable(error);
        return 'go';
      }
    },

    report: async (group, shown) => {
      try {
        const { state } = await current();
        if (shown.kind === 'refused') {
          const limit = await deps.limit();
          await change((before) => afterRefusal(before, { limit, retryAt: shown.retryAt, now: time() }));
        } else if (shown.kind === 'overloaded') {
          if (isBeforeCut(state, shown.admittedAt)) return;
          await change((before) => afterOverload(before, time()));
          await wake(true);
        } else if (!isCounting(state, time())) return;
        await line.count(Math.floor(time() / 1_000), { kind: shown.kind, bucket: bucketOf(group) });
      } catch (error) {
        unavailable(error);
      }
    },

    reopen: async (caller, groups) => {
      const keys = groups.map((group) => reopeningKey(caller, group === '*' ? undefined : group));
      try {
        await change((state) => afterReopening(state, keys, time()));
      } catch (error) {
        unavailable(error);
      }
    },

    wait: async (entry, isHeld) => {
      await line.write(entry);
      try {
        if (!isHeld) await change((state) => withLine(state, time()));
        else await current();
      } catch (error) {
        unavailable(error);
      }
      await wake(isHeld);
    },
  };
};
