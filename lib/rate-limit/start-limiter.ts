import type { BreakerSubject } from '../breaker/breaker-state.ts';
import { defined } from '../defined.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { changeItem, type Known, readItem, type SharedItemStore } from '../shared-item/shared-item.ts';
import { callKey } from './call-counts.ts';
import { countFromNow, isBeforeCut } from './learn-rate.ts';
import { type PermitStore, takePermit } from './permit.ts';
import { hasLine, isDispatching, parseRateState, type RateState, rateAt, rateItem } from './rate-state.ts';
import type { LineEntry, StartLineStore } from './start-line.ts';

/** What an admitted start of a caller showed about the provider's rate. */
export type ShownToRate =
  | { readonly kind: 'accepted' }
  /** A 429 that names neither quota nor user. `retryAt` is from its `Retry-After`, in milliseconds of the epoch. */
  | { readonly kind: 'refused'; readonly retryAt: number | undefined }
  /** A 5xx or no answer in time. Only the first start of a group that fails since an accepted one is reported. */
  | { readonly kind: 'failed'; readonly admittedAt: number }
  /** A slow start that was counted as failed in this second, and then accepted. */
  | { readonly kind: 'recovered'; readonly second: number };

/** Limits the rate of starts in one process. Only `enqueue` throws, because a limiter must not cause an outage. */
export interface StartLimiter {
  /** Whether a start may be made now, or has to wait in line. */
  admit(): Promise<'go' | 'wait'>;
  /** Counts what an admitted start showed. Returns the second in which it was counted, or undefined if it was not. */
  report(about: Pick<BreakerSubject, 'caller' | 'group'>, shown: ShownToRate): Promise<number | undefined>;
  /** Puts a start in line, and invokes a dispatcher if none runs. Throws what the store throws. */
  enqueue(entry: LineEntry): Promise<void>;
}

export type StartLimiterDeps = {
  /** The table `Breakers`. */
  readonly store: SharedItemStore;
  readonly permits: PermitStore;
  readonly line: StartLineStore;
  /** The rate set by hand or by the setting, in starts a second. Undefined if none is set. */
  readonly limit: () => Promise<number | undefined>;
  /** Invokes a dispatcher, without waiting for its end. */
  readonly invokeDispatcher: () => Promise<void>;
  readonly now: () => Date;
  readonly newVersion: () => string;
  readonly telemetry: Telemetry;
};

/** How long a process trusts the rate that it read. While a first rate is being learnt, it reads before each start. */
const cacheMs = 1_000;

const isFirstWindow = ({ windowFrom, learnt }: RateState): boolean =>
  windowFrom !== undefined && learnt === undefined;

/** All processes together invoke a dispatcher once in this time. By then it runs and has the lease. */
const invokeEveryMs = 2_000;

export const createStartLimiter = (deps: StartLimiterDeps): StartLimiter => {
  const { store, permits, line, newVersion, telemetry } = deps;
  const time = (): number => deps.now().getTime();
  /** The items `rate` and `permit`, as this process last saw them. */
  let known: { readonly rate: Known<RateState>; readonly at: number } | undefined;
  let next: number | undefined;

  const unavailable = (error: unknown): void => {
    telemetry.count('RateUnavailable');
    telemetry.failure('The rate of starts is not available; the start is made.', error);
  };

  const remember = (rate: Known<RateState>): RateState => {
    known = { rate, at: time() };
    if (rate.isDamaged) telemetry.count('RateUnavailable');
    return rate.state;
  };

  const current = async (): Promise<RateState> =>
    known !== undefined && time() - known.at < cacheMs && !isFirstWindow(known.rate.state)
      ? known.rate.state
      : remember(await readItem(store, rateItem, parseRateState, deps.now()));

  /** Changes the rate, which is seldom: when a window opens, or a dispatcher is invoked. Returns whether this process changed it. */
  const change = async (decide: (state: RateState) => RateState): Promise<boolean> => {
    if (known !== undefined && decide(known.rate.state) === known.rate.state) return false;
    const { before, after } = await changeItem(store, rateItem, decide, {
      parse: parseRateState,
      known: known?.rate,
      now: deps.now,
      newVersion,
    });
    remember(after);
    return decide(before) !== before && after.state !== before;
  };

  /** Invokes a dispatcher, unless one runs or was just invoked. If that fails, the schedule invokes it. */
  const invokeUnlessRunning = async (): Promise<void> => {
    try {
      const isFirst = await change((state) => {
        const isInvoked = isDispatching(state, time()) || time() - (state.wokenAt ?? 0) < invokeEveryMs;
        return isInvoked ? state : { ...state, wokenAt: time() };
      });
      if (isFirst) await deps.invokeDispatcher();
    } catch (error) {
      telemetry.failure('The dispatcher could not be invoked; its schedule does it.', error);
    }
  };

  return {
    admit: async () => {
      try {
        const state = await current();
        const perSecond = rateAt(state, await deps.limit(), time());
        if (perSecond === undefined) return 'go';
        if (isDispatching(state, time()) && hasLine(state, time())) return 'wait';
        const answer = await takePermit(permits, next, perSecond, time());
        if (answer.kind !== 'throttled') next = answer.next;
        return answer.kind === 'taken' ? 'go' : 'wait';
      } catch (error) {
        unavailable(error);
        return 'go';
      }
    },

    report: async ({ caller, group }, shown) => {
      try {
        const state = await current();
        if (shown.kind === 'failed' && isBeforeCut(state, shown.admittedAt)) return undefined;
        if (shown.kind === 'refused' || shown.kind === 'failed')
          await change((before) => countFromNow(before, time()));
        else if (state.windowFrom === undefined) return undefined;
        // A failed start does not go in line, so `enqueue` would not invoke a dispatcher that judges it.
        if (shown.kind === 'failed') await invokeUnlessRunning();
        const isTakenBack = shown.kind === 'recovered';
        const second = isTakenBack ? shown.second : Math.floor(time() / 1_000);
        const retryAt = shown.kind === 'refused' ? shown.retryAt : undefined;
        const kind = isTakenBack ? 'failed' : shown.kind;
        await line.count(second, {
          kind,
          key: callKey(caller, group),
          times: isTakenBack ? -1 : 1,
          ...defined({ retryAt }),
        });
        return second;
      } catch (error) {
        unavailable(error);
        return undefined;
      }
    },

    enqueue: async (entry) => {
      await line.write(entry);
      await invokeUnlessRunning();
    },
  };
};
