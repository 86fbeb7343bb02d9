import type { CircuitBreaker, Passed, Shown } from '../../breaker/circuit-breaker.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import type { StartLimiter } from '../../rate-limit/start-limiter.ts';
import type { StartLineStore } from '../../rate-limit/start-line.ts';
import type { Timings } from '../deadlines.ts';
import type { NotAccepted, Result, StartCallResult } from '../plan.ts';
import { breakerSubjectOf } from '../record.ts';
import { type Asking, boundedRetryAt, entryOf, refusalsOf, showsRate } from './asking.ts';
import type { Called, Watch } from './start-call.ts';

/**
 * What lets a start go, in three steps. `admit`: first the breaker of its group, then the rate; who may not go has a place in line. The call
 * follows. `conclude`: the breaker and the rate learn from the call, and its item in the line follows from how it ended.
 *
 * The race with the dispatcher. The item is written before the state InLine adds its token, and the dispatcher releases who has one. It takes
 * the permit of a start that it releases at the rate, so that its next attempt needs none. One released for a breaker's turn needs none, too:
 *
 *     start-task:  no permit ─► item ─► Waits ┐                              ┌─► admit: released ─► call
 *     machine:                                └─► InLine: token into the item │
 *     dispatcher:                                   └─► permit ─► release ────┘
 */

export type GateDeps = {
  readonly breaker: CircuitBreaker;
  readonly startLine: { readonly limiter: StartLimiter; readonly line: StartLineStore };
  /** Calls back once a call has taken so long that its start counts as failed. Returns how to stop waiting. */
  readonly whenSlow: (callback: () => void) => () => void;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly telemetry: Telemetry;
};

/** That a start was reported as slow. `countedAt`: the second in which it was counted as a failure of the rate. */
type Slow = { readonly countedAt: number | undefined };

type PassedAt = Passed & { readonly admittedAt: number };

export type Going = PassedAt & {
  readonly watch: Watch;
  /** Waits for the end of its report, if it was slow. */
  readonly slow: () => Promise<Slow | undefined>;
};

/**
 * `waits`: it may not go. It is in line, and the state InLine follows; with `onlyCheck` it is not put in line. `problem` is why, or undefined
 * if it is the rate.
 */
export type Admitted = Going | { readonly kind: 'waits'; readonly problem: string | undefined };

/**
 * Reports a failed start to the rate, if it is the group's first failure since an accepted start and was not made in a breaker's turn. Returns
 * the second in which it was counted.
 */
const reportFailure = async (
  { about, kind, admittedAt }: PassedAt,
  isFirst: boolean,
  { startLine }: GateDeps,
): Promise<number | undefined> =>
  isFirst && kind !== 'turn' ? startLine.limiter.report(about, { kind: 'failed', admittedAt }) : undefined;

/**
 * Watches the calls of a start. The first that takes too long is reported to the breaker while it is under way, because until its timeout it
 * holds an invocation of start-task. A start call is reported to the rate, too, which counts no other calls.
 */
const watched = (admitted: PassedAt, deps: GateDeps): Going => {
  let slow: Promise<Slow> | undefined;
  const report = async (isStartCall: boolean): Promise<Slow> => {
    const isFirst = await deps.breaker.report(admitted, { kind: 'slow' });
    return { countedAt: await reportFailure(admitted, isFirst && isStartCall, deps) };
  };
  return {
    ...admitted,
    watch: async (kind, call) => {
      const stop = deps.whenSlow(() => {
        slow ??= report(kind === 'start');
      });
      try {
        return await call(stop);
      } finally {
        stop();
      }
    },
    slow: async () => slow,
  };
};

/** With `onlyCheck`, no start will be made, so it takes no turn and no place in line. Throws only if the line cannot be written. */
export const admit = async (asking: Asking, onlyCheck: boolean, deps: GateDeps): Promise<Admitted> => {
  const { breaker, startLine, now } = deps;
  const wait = async (problem?: string): Promise<Admitted> => {
    const refusals = refusalsOf(asking);
    if (!onlyCheck) await startLine.limiter.enqueue(entryOf(asking, { waits: true, refusals }, deps));
    return { kind: 'waits', problem };
  };

  const admission = await breaker.admit(breakerSubjectOf(asking.record), { onlyCheck });
  if (admission.kind === 'held') return wait(`held/${admission.cause}`);
  // A released start has its permit from the dispatcher, or was released for a breaker's turn, which needs none.
  const isFree = asking.attempt.isReleased || admission.kind === 'turn' || onlyCheck;
  if (!isFree && (await startLine.limiter.admit()) === 'wait') return wait();
  return watched({ ...admission, admittedAt: now().getTime() }, deps);
};

/** What an admitted start showed. Without a `result`, it was not claimed, for example after a failed login. */
export type Made = Pick<Called, 'shown'> & Partial<Called>;

/**
 * Reports each admitted start to the breaker at its end. If it was reported as slow and then failed, it is not reported as a failure
 * again. A turn is always reported, because the report ends it.
 */
const reportToBreaker = async (going: Going, shown: Shown, { breaker }: GateDeps): Promise<boolean> => {
  const isReported = (await going.slow()) !== undefined && shown.kind === 'failed' && going.kind !== 'turn';
  return breaker.report(going, isReported ? { kind: 'nothing' } : shown);
};

/**
 * Reports the result of a start call to the rate, which counts no logins. After two earlier refusals, a refusal is not reported, because the
 * provider probably refuses this start for another reason.
 */
const reportToRate = async (
  asking: Asking,
  going: Going,
  result: StartCallResult,
  isFirstFailure: boolean,
  deps: GateDeps,
): Promise<void> => {
  const { limiter } = deps.startLine;
  const { about } = going;
  if (result.kind === 'accepted') {
    const second = (await going.slow())?.countedAt;
    if (second !== undefined) await limiter.report(about, { kind: 'recovered', second });
    await limiter.report(about, { kind: 'accepted' });
  } else if (result.kind === 'over-the-rate') {
    const shown = { kind: 'refused', retryAt: boundedRetryAt(result.notBefore, deps.now()) } as const;
    if (showsRate(refusalsOf(asking))) await limiter.report(about, shown);
  } else {
    await reportFailure(going, isFirstFailure, deps);
  }
};

/**
 * Stores for the next try how long it has waited, or removes its item after an outcome, or a start call that is not repeated. A failure is
 * only logged: the item expires, and the time until the next try does not count.
 */
const stopWaiting = async (asking: Asking, mayTryAgain: boolean, deps: GateDeps): Promise<void> => {
  const { record, item } = asking;
  const { line } = deps.startLine;
  if (item === undefined || (mayTryAgain && item.waitingSince === undefined)) return;
  try {
    if (mayTryAgain) await line.write(entryOf(asking, { waits: false, refusals: refusalsOf(asking) }, deps));
    else await line.remove(record.extractionId, record.requestId);
  } catch (error) {
    deps.telemetry.failure('The item of a start that has waited could not be written.', error, record);
  }
};

/**
 * Ends an admitted start: reports to the breaker and the rate, and updates its place in line. `ended` is how the record was written, or
 * undefined if it was not. Returns another result for the record if the start could not be put in line. Throws nothing.
 *
 * A 429 of the rate: `judge` writes `REQUESTED` without its `notBefore`, which decides the place in line here.
 */
export const conclude = async (
  asking: Asking,
  going: Going,
  made: Made,
  ended: Result | undefined,
  deps: GateDeps,
): Promise<NotAccepted | undefined> => {
  const { result } = made;
  const isFirst = await reportToBreaker(going, made.shown, deps);
  const isFirstFailure = isFirst && made.isOfToken !== true;
  if (result !== undefined) await reportToRate(asking, going, result, isFirstFailure, deps);
  if (ended?.error !== 'Waits' || result?.kind !== 'over-the-rate') {
    const isMade = result !== undefined && result.kind !== 'not-accepted' && result.kind !== 'over-the-rate';
    await stopWaiting(asking, !isMade && ended?.conclusion !== 'closed', deps);
    return undefined;
  }
  const refusals = refusalsOf(asking) + 1;
  try {
    const { notBefore } = result;
    await deps.startLine.limiter.enqueue(entryOf(asking, { waits: true, refusals, notBefore }, deps));
    return undefined;
  } catch (error) {
    deps.telemetry.failure(
      'A refused start could not be put in line; the machine retries it.',
      error,
      asking.record,
    );
    await stopWaiting(asking, true, deps);
    return { ...result, kind: 'not-accepted', error: 'ProviderBusy' };
  }
};
