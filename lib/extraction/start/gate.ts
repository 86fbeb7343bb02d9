import type { Admission, CircuitBreaker, Shown } from '../../breaker/circuit-breaker.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import type { ShownToRate, StartLimiter } from '../../rate-limit/start-limiter.ts';
import {
  hasWaitedTooLong,
  type LineEntry,
  placeAt,
  type StartLineStore,
  showsRate,
  slotOf,
  startWindowOf,
  waitedMs,
} from '../../rate-limit/start-line.ts';
import { maxEntries, plusSeconds, type Timings, windowEnd } from '../deadlines.ts';
import type { NotAccepted, Result, StartCallResult } from '../plan.ts';
import { breakerAboutOf, type Extraction } from '../record.ts';

/**
 * The line of those that wait for the rate of starts, and that rate. Without a limiter nobody waits any more, but who has waited before starts were
 * not limited has waited all the same.
 */
export type StartLine = { readonly limiter?: StartLimiter; readonly line: StartLineStore };

/** What the machine says about this attempt of the state StartTask (`StartInput`). */
type Attempt = {
  readonly requestId: string;
  readonly entry?: number;
  readonly callbackAttempt: number;
  readonly isReleased?: boolean;
};

export type GateDeps = {
  readonly breaker: CircuitBreaker;
  /** Without one, a start that may not go yet is retried by the machine. */
  readonly startLine?: StartLine;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly telemetry: Telemetry;
};

/** `waits`: it is in line, and the state InLine follows, for a `problem` if not for the rate. `held`: it may not be in line, or it only asks. */
export type Admitted = Admission | { readonly kind: 'waits'; readonly problem: string | undefined };

type Called = { readonly result: StartCallResult; readonly shown: Shown };

/** What lets a start go: first the breaker of its group, then the rate. A start that may not go yet waits in line. */
export interface Gate {
  /** With the time that the start window does not count. */
  readonly timings: Timings;
  /** The deadline of one that has waited. */
  readonly deadlineAt: string | undefined;
  readonly hasWaitedTooLong: boolean;
  /** `onlyAsk`: no start will be made, so it takes no turn and does not wait. Throws what the line throws. */
  admit(onlyAsk: boolean): Promise<Admitted>;
  /**
   * What the record and the breaker are to show of a call. One that the rate refused waits, if it can. A slow call was reported when it became slow.
   * The failure of a turn is reported again, because the breaker frees a turn only when the start that holds it has ended.
   */
  outcomeOf(called: Called): Called;
  /** The call is slow, and still under way. */
  reportSlow(): Promise<void>;
  /**
   * Takes what follows the call of `outcomeOf`. Returns what the record is to show instead, if the start could not be put in line.
   */
  afterCall(ended: Result): Promise<NotAccepted | undefined>;
  /** Every start that was admitted is reported once. */
  report(shown: Shown): Promise<void>;
}

const day = 86_400;

/** What is known of a wait. `isWaiting`: it goes on. `notBefore`: the provider asked for no other try before. */
type Wait = {
  readonly attempt: number;
  readonly waited: number;
  readonly isWaiting: boolean;
  readonly refusals: number;
  readonly notBefore: string | undefined;
};

/** In line, with its place and what it has waited until now. */
const entryOf = (
  record: Extraction,
  { attempt, waited, isWaiting, refusals, notBefore }: Wait,
  { now, timings }: { now: Date; timings: Timings },
): LineEntry => {
  const { extractionId, requestId, requestedAt, priority = 'interactive' } = record;
  const { caller, group } = breakerAboutOf(record);
  const at = placeAt(requestedAt, { refusals, notBefore }, now);
  const keptUntil = plusSeconds(now, timings.maxWait + timings.startWindow + day);
  return {
    extractionId,
    requestId,
    attempt,
    slot: slotOf({ caller, priority, group, at, extractionId }),
    ...(isWaiting ? { waitingSince: now.toISOString() } : {}),
    waitedMs: Math.round(waited * 1_000),
    ...(refusals === 0 ? {} : { refusals }),
    expiresAt: Math.ceil(Date.parse(keptUntil) / 1_000),
  };
};

/** The provider's rate refused it: a 429 that names neither quota nor user. An `errorType` after the slash names none of them. */
const isRefusedByRate = (result: StartCallResult): result is NotAccepted =>
  result.kind === 'not-accepted' && result.error === 'ProviderBusy' && /^http-429(\/|$)/.test(result.problem);

/** Whether those that failed are an overload or some banks' trouble, all calls together show. `admittedAt`: of the start. */
const shownToRate = ({ result, shown }: Called, admittedAt: number): ShownToRate | undefined => {
  if (result.kind === 'accepted') return { kind: 'accepted' };
  if (isRefusedByRate(result)) {
    const { notBefore } = result;
    return { kind: 'refused', retryAt: notBefore === undefined ? undefined : Date.parse(notBefore) };
  }
  return shown.kind === 'failed' ? { kind: 'overloaded', admittedAt } : undefined;
};

/** Only the breaker, for an execution that never waits. What it shows about the rate is reported all the same. */
const breakerGate = (
  record: Extraction,
  { breaker, startLine, timings, now }: GateDeps,
): Gate & { admit(onlyAsk: boolean): Promise<Admission> } => {
  // Until it is admitted. Of a held start nothing is reported.
  let admission: Admission = { kind: 'held', cause: '' };
  let admittedAt = 0;
  let wasSlow = false;
  let call: Called | undefined;
  const reportToRate = async (shown: ShownToRate): Promise<void> =>
    startLine?.limiter?.report(breakerAboutOf(record).group, shown);
  return {
    timings,
    deadlineAt: undefined,
    hasWaitedTooLong: false,
    admit: async (onlyAsk) => {
      admission = await breaker.admit(breakerAboutOf(record), { onlyAsk });
      admittedAt = now().getTime();
      return admission;
    },
    outcomeOf: (called) => {
      call = called;
      const { result, shown } = called;
      const isReported = wasSlow && shown.kind === 'failed' && admission.kind !== 'turn';
      return { result, shown: isReported ? { kind: 'nothing' } : shown };
    },
    reportSlow: async () => {
      wasSlow = true;
      await breaker.report(admission, { kind: 'slow' });
      await reportToRate({ kind: 'overloaded', admittedAt });
    },
    afterCall: async () => {
      const toRate = call && shownToRate(call, admittedAt);
      const isReported = wasSlow && toRate?.kind !== 'refused';
      if (toRate !== undefined && !isReported) await reportToRate(toRate);
      return undefined;
    },
    report: (shown) => breaker.report(admission, shown),
  };
};

/**
 * The gate of one start. Reads what is known of its wait, if it has waited. Throws what the store throws.
 */
export const gateOf = async (
  record: Extraction,
  { requestId, entry: timesInLine, callbackAttempt, isReleased }: Attempt,
  deps: GateDeps,
): Promise<Gate> => {
  const { startLine, now, telemetry } = deps;
  const simple = breakerGate(record, deps);
  if (startLine === undefined || timesInLine === undefined) return simple;
  const { limiter, line } = startLine;
  const found = timesInLine === 0 ? undefined : await line.find(record.extractionId);
  const known = found?.requestId === requestId ? found : undefined;
  const waitedNow = (): number => waitedMs(known, now()) / 1_000;
  const waited = waitedNow();
  const startWindow = startWindowOf({ waitedMs: waited * 1_000 }, record.requestedAt, deps.timings);
  const timings = { ...deps.timings, startWindow };
  const windowEndsAt = new Date(windowEnd(record.requestedAt, timings));
  /** Whether it is in line now, and whether it has to be tried again. */
  let [isInLine, isTriedAgain] = [false, true];
  let mayWait = limiter !== undefined && timesInLine < maxEntries;

  /** What the provider answered, before `outcomeOf` says that the start waits. */
  let call: Called | undefined;
  let refusals = known?.refusals ?? 0;
  let notBefore: string | undefined;

  const entryNow = (isWaiting: boolean): LineEntry =>
    entryOf(
      record,
      { attempt: callbackAttempt, waited: waitedNow(), isWaiting, refusals, notBefore },
      { now: now(), timings: deps.timings },
    );

  const goInLine = async (isHeld: boolean): Promise<void> => {
    await limiter?.wait(entryNow(true), isHeld);
    isInLine = true;
  };

  /**
   * Keeps what it has waited for the next try, or removes its item if the call was the last one. A failure fails nothing: the item expires, and the time
   * until the next try does not count.
   */
  const stopWaiting = async (): Promise<void> => {
    if (known === undefined || isInLine || (isTriedAgain && known.waitingSince === undefined)) return;
    try {
      if (isTriedAgain) await line.write(entryNow(false));
      else await line.remove(record.extractionId, requestId);
    } catch (error) {
      telemetry.failure('The item of a start that has waited could not be written.', error, record);
    }
  };

  return {
    ...simple,
    timings,
    deadlineAt: waited === 0 ? undefined : plusSeconds(record.requestedAt, waited + timings.deadline),
    hasWaitedTooLong: hasWaitedTooLong(known, now(), timings.maxWait),
    admit: async (onlyAsk) => {
      mayWait &&= !onlyAsk;
      const admission = await simple.admit(onlyAsk);
      if (!mayWait || limiter === undefined) return admission;
      if (admission.kind === 'held') {
        await goInLine(true);
        return { kind: 'waits', problem: `held/${admission.cause}` };
      }
      // A version that did not say so took the first attempt after each wait for released.
      const isFirstAfterWait = timesInLine > 0 && callbackAttempt % 1_000 === 0;
      const asking = { isReleased: isReleased ?? isFirstAfterWait, isTurn: admission.kind === 'turn' };
      if ((await limiter.admit(breakerAboutOf(record), asking)) === 'go') return admission;
      await goInLine(false);
      return { kind: 'waits', problem: undefined };
    },
    outcomeOf: (called) => {
      call = called;
      const { result, shown } = simple.outcomeOf(called);
      // Once its window is over, it would wait in vain.
      const waits = mayWait && isRefusedByRate(result) && now() < windowEndsAt;
      return { result: waits ? { ...result, error: 'Waits', notBefore: undefined } : result, shown };
    },
    afterCall: async (ended) => {
      if (call === undefined) return undefined;
      const { result } = call;
      isTriedAgain = result.kind === 'not-accepted';
      if (!isRefusedByRate(result)) return simple.afterCall(ended);
      if (showsRate(refusals)) await simple.afterCall(ended);
      [refusals, notBefore] = [refusals + 1, result.notBefore];
      if (ended.error !== 'Waits') return undefined;
      try {
        await goInLine(false);
        return undefined;
      } catch (error) {
        telemetry.failure('A refused start could not be put in line; the machine retries it.', error, record);
        return result;
      }
    },
    report: async (shown) => {
      await simple.report(shown);
      await stopWaiting();
    },
  };
};
