import { createHash } from 'node:crypto';
import type { Telemetry } from '../observability/telemetry.ts';
import {
  afterFailure,
  afterSuccess,
  type BreakerName,
  type BreakerSettings,
  type BreakerState,
  electProbe,
  type Failure,
  mayCall,
  mayOpenSoon,
  type Subject,
  shortIdOf,
  withoutProbe,
} from './breaker-state.ts';
import { type BreakerStore, changeBreaker, type KnownBreaker, readBreaker } from './breaker-store.ts';
import { type Verdict, verdictOf } from './provider-trouble.ts';

/** What one use of the breaker may do. */
export type Attempt = {
  /**
   * `probe`: whether it succeeds decides whether the breaker closes. `last`: the breaker is open, and the call is made
   * because no other can follow; it should be short.
   */
  readonly kind: 'ordinary' | 'probe' | 'last';
  /** Makes a call before the one that the breaker is for, such as a login. Only its failure counts. Throws what it throws. */
  readonly prepare: <T>(call: () => Promise<T>) => Promise<T>;
  /** Makes the call that the breaker is for. Its success and its failure count. Throws what it throws. */
  readonly make: <T>(call: () => Promise<T>) => Promise<T>;
};

export type Run<T> =
  | { readonly kind: 'made'; readonly value: T }
  /** Nothing was done: the breaker is open, or an operator paused such calls. */
  | { readonly kind: 'held' };

/** One breaker as the callers of the provider use it. It throws nothing of its own: a breaker must never be the outage. */
export interface CircuitBreaker {
  /**
   * Runs `use` unless calls are held, and reports what the latest of its calls showed, in every case. With `isLast`, only a
   * pause by an operator holds it; the success of its call then counts, and its failure does not. Throws what `use` throws.
   */
  run<T>(
    about: About,
    use: (attempt: Attempt) => Promise<T>,
    options?: { readonly isLast?: boolean },
  ): Promise<Run<T>>;
  /** Counts a failed call that is not about one extraction, such as a login, if it means that the provider is in trouble. */
  countFailure(error: unknown): Promise<void>;
}

/** The extraction that calls are about, and what others have in common that would fail with it. Neither is stored in the clear. */
export type About = { readonly extractionId: string; readonly group: string };

export type CircuitBreakerDeps = {
  readonly name: BreakerName;
  readonly store: BreakerStore;
  readonly settings: BreakerSettings;
  readonly now: () => Date;
  readonly newId: () => string;
  /** Calls back after this time, unless the function that it returns was called before. */
  readonly schedule: (callback: () => void, ms: number) => () => void;
  readonly telemetry: Telemetry;
};

/** 8 characters of a digest are 48 bits: two of 50 groups share a name once in 200 billion openings. */
const subjectOf = ({ extractionId, group }: About): Subject => ({
  extraction: shortIdOf(extractionId),
  group: createHash('sha256').update(group).digest('base64url').slice(0, 8),
});

type Admission = { readonly kind: Attempt['kind'] | 'held'; readonly probeId?: string };

/**
 * For how long a process trusts the state that it read, unless a failure is counted in it. So nearly nothing is read
 * while all is well, and a process makes at most one call after the breaker has opened: if that call fails, the process
 * writes to the breaker, and the write returns the current state.
 */
const cacheMs = 5_000;

const heldMetric = { starts: 'StartsHeld', reads: 'ReadsHeld' } as const;

/** The breaker of one process, over the state that all processes share. */
export const createCircuitBreaker = (deps: CircuitBreakerDeps): CircuitBreaker => {
  const { name, store, settings, newId, schedule, telemetry } = deps;
  const time = (): number => deps.now().getTime();
  let cached: { readonly known: KnownBreaker | undefined; readonly at: number } | undefined;
  let reading: Promise<KnownBreaker> | undefined;

  const remember = (known: KnownBreaker | undefined): void => {
    cached = { known, at: time() };
    if (known?.isDamaged !== true) return;
    telemetry.count('BreakerUnavailable');
    telemetry.log('The item of the breaker is damaged or of a newer version; the call is made.', {
      breaker: name,
    });
  };

  const isFresh = (): boolean =>
    cached !== undefined &&
    time() - cached.at < cacheMs &&
    (cached.known === undefined || !mayOpenSoon(cached.known.state, time()));

  const unavailable = (error: unknown): void => {
    telemetry.count('BreakerUnavailable');
    telemetry.failure('The state of the breaker is not available; the call is made.', error);
  };

  /** The state, at most 5 s old. Undefined if it could not be read, which is then not tried again for 5 s. */
  const current = async (): Promise<BreakerState | undefined> => {
    if (isFresh()) return cached?.known?.state;
    reading ??= readBreaker(store, name, deps.now()).finally(() => {
      reading = undefined;
    });
    try {
      remember(await reading);
    } catch (error) {
      remember(undefined);
      unavailable(error);
    }
    return cached?.known?.state;
  };

  const change = async (decide: (state: BreakerState) => BreakerState): Promise<BreakerState> => {
    const { before, after } = await changeBreaker(store, name, decide, {
      known: isFresh() ? cached?.known : undefined,
      now: deps.now,
      newVersion: newId,
    });
    remember(after);
    const opens = before.opened === undefined && after.state.opened !== undefined && before !== after.state;
    const closes = before.opened !== undefined && after.state.opened === undefined;
    if (opens) telemetry.count('BreakerOpened');
    if (opens || closes) telemetry.log(`The breaker ${opens ? 'opened' : 'closed'}.`, { breaker: name });
    return after.state;
  };

  const tryToChange = async (decide: (state: BreakerState) => BreakerState): Promise<void> => {
    try {
      await change(decide);
    } catch (error) {
      unavailable(error);
    }
  };

  const elect = async (subject: Subject): Promise<Admission> => {
    const id = newId();
    const state = await change((before) => electProbe(before, { id, ...subject, now: time() }, settings));
    if (state.opened?.probe?.id === id) return { kind: 'probe', probeId: id };
    return { kind: mayCall(state, subject, time()) === 'yes' ? 'ordinary' : 'held' };
  };

  const admit = async (subject: Subject, isLast: boolean): Promise<Admission> => {
    try {
      const state = await current();
      const may = state === undefined ? 'yes' : mayCall(state, subject, time());
      if (may === 'yes') return { kind: 'ordinary' };
      if (isLast) return { kind: state?.paused === undefined ? 'last' : 'held' };
      return may === 'as-probe' ? await elect(subject) : { kind: 'held' };
    } catch (error) {
      unavailable(error);
      return { kind: 'ordinary' };
    }
  };

  const countTrouble = (
    subject: Subject,
    { cause, retryAt }: Verdict & { kind: 'trouble' },
    probe: Pick<Failure, 'probeId' | 'isPreparation'> = {},
  ) =>
    tryToChange((state) =>
      afterFailure(state, { ...subject, ...probe, now: time(), cause, retryAt }, settings),
    );

  /** Whether a success may change the state as this process knows it. */
  const mayMatter = (extraction: string): boolean => {
    const state = cached?.known?.state;
    return state !== undefined && (state.count > 0 || state.failing.includes(extraction));
  };

  const report = async (
    subject: Subject,
    { kind, probeId }: Admission,
    { verdict, isSlow, isPreparation }: Seen,
  ): Promise<void> => {
    const { extraction } = subject;
    if (verdict.kind === 'trouble') {
      if (kind !== 'last') await countTrouble(subject, verdict, { probeId, isPreparation });
      return;
    }
    if (verdict.kind === 'success') {
      const closes = isSlow || kind === 'last';
      if (!closes && probeId === undefined && !mayMatter(extraction)) return;
      await tryToChange((state) => afterSuccess(state, { extraction, probeId, closes }));
      return;
    }
    if (probeId !== undefined) await tryToChange((state) => withoutProbe(state, probeId));
    // The provider did answer, although too late.
    if (isSlow) await tryToChange((state) => afterSuccess(state, { extraction }));
  };

  return {
    run: async (about, use, { isLast = false } = {}) => {
      const subject = subjectOf(about);
      const admission = await admit(subject, isLast);
      if (admission.kind === 'held') {
        telemetry.count(heldMetric[name]);
        return { kind: 'held' };
      }
      const slowAfter = admission.kind === 'ordinary' ? settings.slowCallSeconds : undefined;
      const watched = watchCalls({
        kind: admission.kind,
        now: deps.now,
        whenSlow: (call) =>
          slowAfter === undefined
            ? () => undefined
            : schedule(
                () => call(countTrouble(subject, { kind: 'trouble', cause: 'slow' })),
                slowAfter * 1_000,
              ),
      });
      try {
        return { kind: 'made', value: await use(watched.attempt) };
      } finally {
        await report(subject, admission, await watched.seen());
      }
    },

    countFailure: async (error) => {
      const verdict = verdictOf(error, deps.now());
      // Not about one extraction or group, so that each failure is a new one, and no group waits for it.
      const subject = { extraction: shortIdOf(newId()), group: '' };
      if (verdict.kind === 'trouble') await countTrouble(subject, verdict);
    },
  };
};

/** What the calls of one attempt showed: the latest that counts. */
type Seen = { readonly verdict: Verdict; readonly isSlow: boolean; readonly isPreparation: boolean };

/** An attempt whose calls are watched. `seen` resolves once what was counted meanwhile is written. */
const watchCalls = ({
  kind,
  now,
  whenSlow,
}: {
  readonly kind: Attempt['kind'];
  readonly now: () => Date;
  /** Calls back once a call takes too long, with the write that counts it. Returns how to stop waiting. */
  readonly whenSlow: (counted: (written: Promise<void>) => void) => () => void;
}): { readonly attempt: Attempt; readonly seen: () => Promise<Seen> } => {
  let verdict: Verdict = { kind: 'nothing' };
  let isPreparation = true;
  const slow: Promise<void>[] = [];
  const prepare: Attempt['prepare'] = async (call) => {
    try {
      return await call();
    } catch (error) {
      verdict = verdictOf(error, now());
      throw error;
    }
  };
  const make: Attempt['make'] = async (call) => {
    isPreparation = false;
    const stop = whenSlow((written) => void slow.push(written));
    try {
      const value = await prepare(call);
      verdict = { kind: 'success' };
      return value;
    } finally {
      stop();
    }
  };
  const seen = async (): Promise<Seen> => {
    await Promise.all(slow);
    return { verdict, isSlow: slow.length > 0, isPreparation };
  };
  return { attempt: { kind, prepare, make }, seen };
};

/** The same call. A failure that is not about one extraction counts for a breaker besides that of the caller. */
export const alsoCountingFor =
  <T, Args extends readonly unknown[]>(
    breaker: CircuitBreaker,
    call: (...args: Args) => Promise<T>,
  ): ((...args: Args) => Promise<T>) =>
  async (...args) => {
    try {
      return await call(...args);
    } catch (error) {
      await breaker.countFailure(error);
      throw error;
    }
  };
