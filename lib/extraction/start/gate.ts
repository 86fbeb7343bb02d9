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

/** What the machine says about this entry of the state StartTask. An execution that was begun before there was a line has no `entry`. */
type Entered = { readonly requestId: string; readonly entry?: number; readonly callbackAttempt: number };

export type GateDeps = {
  readonly breaker: CircuitBreaker;
  /** Without one, a start that may not go yet is retried by the machine. */
  readonly startLine?: StartLine;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly telemetry: Telemetry;
};

/** `waits`: it is in line, and the state InLine follows. `held`: it may not be in line, or it only asks. */
export type Admitted = Admission | { readonly kind: 'waits'; readonly problem: string };

/** What lets a start go: first the breaker of its group, then the rate. A start that may not go yet waits in line. */
export interface Gate {
  /** With the time that the start window does not count. */
  readonly timings: Timings;
  /** The deadline of one that has waited. */
  readonly deadlineAt: string | undefined;
  readonly hasWaitedTooLong: boolean;
  /** `onlyAsk`: no start will be made, so it takes no turn and does not wait. Throws what the line throws. */
  admit(onlyAsk: boolean): Promise<Admitted>;
  /** What the record is to show of a call. One that the rate refused waits, if it can. */
  resultOf(result: StartCallResult): StartCallResult;
  /** The call is slow, and still under way. */
  reportSlow(): Promise<void>;
  /** Takes what the call showed, and how the record has ended. Returns what the machine is to do. */
  afterCall(
    ended: Result,
    called: { readonly result: StartCallResult; readonly shown: Shown },
  ): Promise<Result>;
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
const shownToRate = (
  { result, shown }: { readonly result: StartCallResult; readonly shown: Shown },
  admittedAt: number,
): ShownToRate | undefined => {
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
    resultOf: (result) => result,
    reportSlow: async () => {
      wasSlow = true;
      await breaker.report(admission, { kind: 'slow' });
      await reportToRate({ kind: 'overloaded', admittedAt });
    },
    afterCall: async (ended, called) => {
      const toRate = shownToRate(called, admittedAt);
      // A slow one was reported when it became slow.
      const isReported = wasSlow && toRate?.kind !== 'refused';
      if (toRate !== undefined && !isReported) await reportToRate(toRate);
      return ended;
    },
    report: (shown) => breaker.report(admission, shown),
  };
};

/**
 * The gate of one start. Reads what is known of its wait, if it has waited. Throws what the store throws.
 */
export const gateOf = async (
  record: Extraction,
  { requestId, entry, callbackAttempt }: Entered,
  deps: GateDeps,
): Promise<Gate> => {
  const { startLine, now, telemetry } = deps;
  const simple = breakerGate(record, deps);
  if (startLine === undefined || entry === undefined) return simple;
  const { limiter, line } = startLine;
  const found = entry === 0 ? undefined : await line.find(record.extractionId);
  const known = found?.requestId === requestId ? found : undefined;
  const waitedNow = (): number => waitedMs(known, now()) / 1_000;
  const waited = waitedNow();
  const startWindow = startWindowOf({ waitedMs: waited * 1_000 }, record.requestedAt, deps.timings);
  const timings = { ...deps.timings, startWindow };
  const windowEndsAt = new Date(windowEnd(record.requestedAt, timings));
  /** Whether it is in line now, and whether it has to be tried again. */
  let [isInLine, isTriedAgain] = [false, true];
  let mayWait = limiter !== undefined && entry < maxEntries;

  let refusals = known?.refusals ?? 0;
  let notBefore: string | undefined;

  const entryNow = (isWaiting: boolean): LineEntry =>
    entryOf(
      record,
      { attempt: callbackAttempt, waited: waitedNow(), isWaiting, refusals, notBefore },
      { now: now(), timings: deps.timings },
    );

  const park = async (isHeld: boolean): Promise<void> => {
    await limiter?.wait(entryNow(true), isHeld);
    isInLine = true;
  };

  /**
   * Keeps what it has waited for the next try, or removes its item if none follows. A failure fails nothing: the item expires, and the time
   * until the next try does not count.
   */
  const leave = async (): Promise<void> => {
    if (known === undefined || isInLine || (isTriedAgain && known.waitingSince === undefined)) return;
    try {
      if (isTriedAgain) await line.park(entryNow(false));
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
        await park(true);
        return { kind: 'waits', problem: `held/${admission.cause}` };
      }
      // The dispatcher has not counted a retry.
      const isReleased = entry > 0 && callbackAttempt % 1_000 === 0;
      const asking = { isReleased, isTurn: admission.kind === 'turn' };
      if ((await limiter.admit(breakerAboutOf(record), asking)) === 'go') return admission;
      await simple.report({ kind: 'nothing' });
      await park(false);
      return { kind: 'waits', problem: 'http-429' };
    },
    resultOf: (result) => {
      // Once its window is over, it would wait in vain.
      const waits = mayWait && isRefusedByRate(result) && now() < windowEndsAt;
      return waits ? { ...result, error: 'Waits', notBefore: undefined } : result;
    },
    afterCall: async (ended, called) => {
      const isRefused = isRefusedByRate(called.result);
      if (!isRefused || showsRate(refusals)) await simple.afterCall(ended, called);
      if (isRefused) [refusals, notBefore] = [refusals + 1, called.result.notBefore];
      isTriedAgain = called.result.kind === 'not-accepted';
      if (ended.conclusion !== 'not-yet' || ended.error !== 'Waits') return ended;
      try {
        await park(false);
        return ended;
      } catch (error) {
        telemetry.failure('A refused start could not be put in line; the machine retries it.', error, record);
        return { ...ended, explanation: 'ProviderBusy', error: 'ProviderBusy' };
      }
    },
    report: async (shown) => {
      await simple.report(shown);
      await leave();
    },
  };
};
