import type { BreakerSubject } from '../breaker/breaker-state.ts';
import { defined } from '../defined.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { changeItem, type Known, readItem, type SharedItemStore } from '../shared-item/shared-item.ts';
import { callKey } from './call-counts.ts';
import { afterBad, isBeforeCut } from './learn-rate.ts';
import { type PermitStore, takePermit } from './permit.ts';
import { hasLine, isDispatching, parseRateState, type RateState, rateAt, rateItem } from './rate-state.ts';
import type { LineEntry, StartLineStore } from './start-line.ts';

/** What an admitted start of a caller showed about the provider's rate. */
export type ShownToRate =
  | { readonly kind: 'accepted' }
  /** A 429 that names neither quota nor user. `retryAt`: of its `Retry-After`, in milliseconds of the epoch. */
  | { readonly kind: 'refused'; readonly retryAt: number | undefined }
  /** A 5xx, or no answer in time, of the first start of its group since one was accepted there. */
  | { readonly kind: 'failed'; readonly admittedAt: number }
  /** It was counted as failed in this second, and was accepted in the end. */
  | { readonly kind: 'recovered'; readonly second: number };

/** The rate of starts, in one process. It throws nothing but what `wait` throws: a limiter must never be the outage. */
export interface StartLimiter {
  /** Whether a start may be made now. If not, it has to wait in line. */
  admit(): Promise<'go' | 'wait'>;
  /** Takes what an admitted start showed. Returns the second in which it was counted, if it was. */
  report(about: Pick<BreakerSubject, 'caller' | 'group'>, shown: ShownToRate): Promise<number | undefined>;
  /** Puts a start in line, and sees to it that a dispatcher runs. Throws what the store throws. */
  wait(entry: LineEntry): Promise<void>;
}

export type StartLimiterDeps = {
  /** The table `Breakers`. */
  readonly store: SharedItemStore;
  readonly permits: PermitStore;
  readonly line: StartLineStore;
  /** The starts a second by hand, or of the setting. Undefined: none is set. */
  readonly limit: () => Promise<number | undefined>;
  /** Invokes a dispatcher, and does not wait for its end. */
  readonly invokeDispatcher: () => Promise<void>;
  readonly now: () => Date;
  readonly newVersion: () => string;
  readonly telemetry: Telemetry;
};

/** For how long a process trusts the rate that it read. While the first calls are judged, it reads the rate for each start. */
const cacheMs = 1_000;

const isFirstWindow = ({ windowFrom, learnt }: RateState): boolean =>
  windowFrom !== undefined && learnt === undefined;

/** Of all processes, one asks for a dispatcher once in so long. By then it runs, and has its lease. */
const invokeEveryMs = 2_000;

export const createStartLimiter = (deps: StartLimiterDeps): StartLimiter => {
  const { store, permits, line, newVersion, telemetry } = deps;
  const time = (): number => deps.now().getTime();
  /** What this process saw last of the two items. */
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

  /** Seldom: when a window opens, or the dispatcher is invoked. Returns whether this process changed it. */
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

  /** Invokes the dispatcher, unless one runs or was invoked just now. If the rate cannot be read, the schedule invokes it. */
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
          await change((before) => afterBad(before, time()));
        else if (state.windowFrom === undefined) return undefined;
        // Nobody goes in line for a start that failed, so nobody else invokes the dispatcher, which judges it.
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

    wait: async (entry) => {
      await line.write(entry);
      await invokeUnlessRunning();
    },
  };
};
