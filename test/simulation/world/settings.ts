import type { MachineTimings } from '../../../infra/constructs/extraction-machine-definition.ts';
import type { Timings } from '../../../lib/extraction/deadlines.ts';

/**
 * Settings that `infra/config.ts` would take (a test asks it), as short as its rules allow: with fewer polls and
 * sweeps in a life, a schedule is short, and two departures from it reach further.
 */
export const settings = {
  webhookWaitSeconds: 30,
  startWindowSeconds: 40,
  startTimeoutSeconds: 20,
  deadlineSeconds: 90,
  machineSlackSeconds: 40,
  pollFirstSeconds: 5,
  pollEverySeconds: 20,
  pollBackoff: 2,
  startRetryFirstSeconds: 2,
  startRetryEverySeconds: 10,
  collectInMachineSeconds: 30,
  collectForSeconds: 100,
  graceSeconds: 100,
  sweepEveryMinutes: 1,
  recordRetentionDays: 120,
  providerTimeoutMs: 4_000,
} as const satisfies MachineTimings & Readonly<Record<string, number>>;

/** As `infra/stack.ts` hands them to the functions. */
export const timings: Timings = {
  startWindow: settings.startWindowSeconds,
  startTimeout: settings.startTimeoutSeconds,
  deadline: settings.deadlineSeconds,
  machineSlack: settings.machineSlackSeconds,
  pollEvery: settings.pollEverySeconds,
  collectInMachine: settings.collectInMachineSeconds,
  collectFor: settings.collectForSeconds,
  grace: settings.graceSeconds,
  recordRetention: settings.recordRetentionDays * 86_400,
};

/** Timeouts of the functions, in seconds, as `infra/stack.ts` has them. */
export const lifeOf = {
  intake: 15,
  'start-task': settings.startTimeoutSeconds,
  webhook: 10,
  reconcile: (4 * settings.providerTimeoutMs) / 1_000 + 40,
} as const;

/** A process that a function's timeout ends. */
export type FunctionName = keyof typeof lifeOf;

/** "30 seconds between two deliveries", of which there are at most five; each has 5 s for its answer. */
export const deliveries = { most: 5, every: 30, answerWithin: 5 } as const;

/**
 * How long a request can be on its way that nobody waits for any more, in seconds. Longer than an attempt's life,
 * so that it can come when everybody thinks that nothing can.
 */
export const longestWay = 25;
