import type { MetricName } from '../observability/metric-names.ts';
import {
  afterFailure,
  afterProbe,
  afterSuccess,
  type BreakerName,
  type BreakerSettings,
  type BreakerState,
  electProbe,
  mayCall,
  mayOpenSoon,
  withoutProbe,
} from './breaker-state.ts';
import { type BreakerStore, changeBreaker, type StoredBreaker } from './breaker-store.ts';
import { type Verdict, verdictOf } from './provider-trouble.ts';

/** Whether a call may be made. It is reported with what the call showed. */
export type Admission =
  | { readonly kind: 'pass' }
  | { readonly kind: 'probe'; readonly id: string }
  | { readonly kind: 'stop' };

/** One breaker as the callers of the provider use it. Neither method throws: a breaker must never be the outage. */
export interface CircuitBreaker {
  admit(): Promise<Admission>;
  /** Must be called once for each admission that is not `stop`, also if no call was made. */
  report(admission: Admission, verdict: Verdict): Promise<void>;
}

export type CircuitBreakerDeps = {
  readonly name: BreakerName;
  readonly store: BreakerStore;
  readonly settings: BreakerSettings;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly journal: {
    info(message: string, facts?: Readonly<Record<string, unknown>>): void;
    failure(what: string, error: unknown): void;
    count(metric: MetricName): void;
  };
};

/**
 * For how long a process trusts the state that it read, unless it has counted a failure lately. So nearly nothing is read
 * while all is well, and a process makes at most one call after the breaker has opened: if that call fails, the process
 * writes to the breaker, and the write returns the current state.
 */
const cacheMs = 5_000;

const heldMetric = { starts: 'StartsHeld', reads: 'ReadsHeld' } as const;

/** The breaker of one process, over the state that all processes share. */
export const createCircuitBreaker = (deps: CircuitBreakerDeps): CircuitBreaker => {
  const { name, store, settings, newId, journal } = deps;
  const time = (): number => deps.now().getTime();
  let cached: { readonly stored: StoredBreaker | undefined; readonly at: number } | undefined;
  let reading: Promise<StoredBreaker> | undefined;

  const remember = (stored: StoredBreaker | undefined): void => {
    cached = { stored, at: time() };
  };

  const isFresh = (): boolean =>
    cached !== undefined &&
    time() - cached.at < cacheMs &&
    (cached.stored === undefined || !mayOpenSoon(cached.stored.state, time(), settings));

  const unavailable = (error: unknown): void => {
    journal.count('BreakerUnavailable');
    journal.failure('The state of the breaker is not available; the call is made.', error);
  };

  /** The state, at most 5 s old. Undefined if it could not be read, which is then not tried again for 5 s. */
  const current = async (): Promise<StoredBreaker | undefined> => {
    if (isFresh()) return cached?.stored;
    reading ??= store.read(name).finally(() => {
      reading = undefined;
    });
    try {
      remember(await reading);
    } catch (error) {
      remember(undefined);
      unavailable(error);
    }
    return cached?.stored;
  };

  const change = async (decide: (state: BreakerState) => BreakerState): Promise<BreakerState> => {
    const known = isFresh() ? cached?.stored : undefined;
    const { before, after } = await changeBreaker(store, name, known, decide, newId);
    remember(after);
    const opens = before.opened === undefined && after.state.opened !== undefined && before !== after.state;
    const closes = before.opened !== undefined && after.state.opened === undefined;
    if (opens) journal.count('BreakerOpened');
    if (opens || closes) journal.info(`The breaker ${opens ? 'opened' : 'closed'}.`, { breaker: name });
    return after.state;
  };

  const elect = async (): Promise<Admission> => {
    const id = newId();
    const state = await change((before) => electProbe(before, id, time(), settings));
    if (state.opened?.probe?.id === id) return { kind: 'probe', id };
    return mayCall(state, time()) === 'yes' ? { kind: 'pass' } : { kind: 'stop' };
  };

  /** Whether a call that is no probe changes the state as this process knows it. */
  const mayChange = (verdict: Verdict): boolean =>
    verdict.kind === 'trouble' || (verdict.kind === 'success' && cached?.stored?.state.inARow !== undefined);

  return {
    admit: async () => {
      try {
        const stored = await current();
        const may = stored === undefined ? 'yes' : mayCall(stored.state, time());
        const admission =
          may === 'as-probe' ? await elect() : ({ kind: may === 'yes' ? 'pass' : 'stop' } as const);
        if (admission.kind === 'stop') journal.count(heldMetric[name]);
        return admission;
      } catch (error) {
        unavailable(error);
        return { kind: 'pass' };
      }
    },

    report: async (admission, verdict) => {
      if (admission.kind === 'stop') return;
      const probeId = admission.kind === 'probe' ? admission.id : undefined;
      if (probeId === undefined && !mayChange(verdict)) return;
      try {
        await change((state) => {
          if (verdict.kind === 'trouble')
            return afterFailure(state, failureOf(verdict, time(), probeId), settings);
          if (probeId === undefined) return afterSuccess(state);
          return verdict.kind === 'success' ? afterProbe(state, probeId) : withoutProbe(state, probeId);
        });
      } catch (error) {
        unavailable(error);
      }
    },
  };
};

const failureOf = (
  { retryAt }: Extract<Verdict, { kind: 'trouble' }>,
  now: number,
  probeId: string | undefined,
): Parameters<typeof afterFailure>[1] => ({
  now,
  ...(retryAt === undefined ? {} : { retryAt }),
  ...(probeId === undefined ? {} : { probeId }),
});

/** The same call. If it fails because the provider is in trouble, it counts for a breaker besides that of the caller. */
export const alsoCountingFor =
  <T, Args extends readonly unknown[]>(
    breaker: CircuitBreaker,
    now: () => Date,
    call: (...args: Args) => Promise<T>,
  ): ((...args: Args) => Promise<T>) =>
  async (...args) => {
    try {
      return await call(...args);
    } catch (error) {
      await breaker.report({ kind: 'pass' }, verdictOf(error, now()));
      throw error;
    }
  };
