import type { BreakerSettings } from '#lib/breaker/breaker-state.ts';
import type { Timings } from '#lib/extraction/deadlines.ts';
import { type MachineTimings, reconcileSeconds } from '../../../infra/extraction-machine-definition.ts';

/**
 * Settings that `infra/settings/config.ts` accepts, which a test checks, as short as its rules allow. Fewer polls and sweeps make
 * shorter schedules, so that two departures cover more of them.
 */
export const settings = {
  webhookWaitSeconds: 30,
  startWindowSeconds: 40,
  maxWaitSeconds: 60,
  startTimeoutSeconds: 23,
  deadlineSeconds: 90,
  machineSlackSeconds: 40,
  pollFirstSeconds: 5,
  pollEverySeconds: 20,
  pollBackoff: 2,
  startRetryFirstSeconds: 2,
  startRetryEverySeconds: 10,
  collectForSeconds: 100,
  resultsLagSeconds: 40,
  graceSeconds: 100,
  sweepEveryMinutes: 1,
  recordRetentionDays: 120,
  providerTimeoutMs: 4_000,
} as const satisfies MachineTimings & Readonly<Record<string, number>>;

type Settings = { readonly [Name in keyof typeof settings]: number };

/** As the stack passes them to the functions. */
export const timingsOf = (given: Settings): Timings => ({
  startWindow: given.startWindowSeconds,
  maxWait: given.maxWaitSeconds,
  startTimeout: given.startTimeoutSeconds,
  reconcileTimeout: reconcileSeconds(given),
  deadline: given.deadlineSeconds,
  machineSlack: given.machineSlackSeconds,
  pollFirst: given.pollFirstSeconds,
  pollEvery: given.pollEverySeconds,
  collectFor: given.collectForSeconds,
  resultsLag: given.resultsLagSeconds,
  grace: given.graceSeconds,
  recordRetention: given.recordRetentionDays * 86_400,
});

export const timings = timingsOf(settings);

/** Timeouts of the functions, in seconds, as in the stack. */
export const lifeWith = (given: Settings) => ({
  intake: 15,
  'start-task': given.startTimeoutSeconds,
  webhook: 10,
  reconcile: timingsOf(given).reconcileTimeout,
  sweep: given.sweepEveryMinutes * 60,
  dispatcher: 900,
});

export const lifeOf = lifeWith(settings);

/** The timeout of erase-extractions, in seconds, as in the stack. */
export const eraseLife = 120;

/** One failing extraction opens the breakers of its group and of its caller. A turn is free once its process has ended. */
export const breakerSettings: BreakerSettings = {
  failures: 1,
  openSeconds: 5,
  maxOpenSeconds: 10,
  turnSeconds: settings.startTimeoutSeconds + 10,
};

/** As in functions/sweep-extractions.ts. */
export const reserveMs = 15_000;

/** A function with a timeout. */
export type FunctionName = keyof typeof lifeOf;

/**
 * After how many seconds a delayed request of an ended process takes effect. It is longer than the timeout of a start
 * attempt, so that the request arrives when the start is already stale.
 */
export const effectDelaySeconds = 25;
