import type { BreakerSettings } from '#lib/breaker/breaker-state.ts';
import type { MachineTimings } from '../../../infra/extraction-machine-definition.ts';
import { lifeWith, timingsOf } from '../world/settings.ts';

/** The defaults of `infra/settings/settings.ts`, which a test compares: to load it takes longer than most populations. */
export const settings = {
  startWindowSeconds: 900,
  maxWaitSeconds: 21_600,
  startTimeoutSeconds: 90,
  startRetryFirstSeconds: 2,
  startRetryEverySeconds: 60,
  webhookWaitSeconds: 600,
  pollFirstSeconds: 5,
  pollEverySeconds: 120,
  pollBackoff: 2,
  deadlineSeconds: 7_200,
  graceSeconds: 86_400,
  machineSlackSeconds: 900,
  collectForSeconds: 86_400,
  resultsLagSeconds: 600,
  sweepEveryMinutes: 5,
  recordRetentionDays: 120,
  providerTimeoutMs: 20_000,
  breakerFailures: 5,
  breakerSlowCallSeconds: 5,
  breakerOpenSeconds: 30,
  breakerMaxOpenSeconds: 300,
  sessionMinutes: 60,
  taskTokenMinutes: 5,
  reconcileConcurrency: 50,
  apiRateLimit: 50,
} as const satisfies MachineTimings & Readonly<Record<string, number>>;

export const timings = timingsOf(settings);
export const lifeOf = lifeWith(settings);

/** As the stack passes them to start-task. A turn is free again 10 s after the process of its holder has ended. */
export const breakerSettings: BreakerSettings = {
  failures: settings.breakerFailures,
  openSeconds: settings.breakerOpenSeconds,
  maxOpenSeconds: settings.breakerMaxOpenSeconds,
  turnSeconds: settings.startTimeoutSeconds + 10,
};
