/**
 * The time limits of the end-to-end tests.
 *
 * A slow machine must not fail a test. So every time limit of the deployment is longer than the longest test, and no
 * test waits for one to pass. Instead a test does one of these:
 *
 * - It moves the record's times into the past (`backdate`).
 * - It ends the machine's wait for the webhook (`endWebhookWait`).
 * - It runs the sweep for its own records (`sweepUntilClosed`).
 * - It ends the task only once `start-task` has linked it (`running`), where it expects the webhook to settle it.
 * - It repeats a request that is answered 5xx, as callers and the provider do.
 *
 * Only `outage.test.ts` waits for real time limits. It has a deployment of its own (`outageSettings`).
 */

/** The longest wait for one event, in milliseconds. On an idle machine most take under 2 s and the slowest about 25 s. */
export const waitMs = 240_000;

/** The longest wait for one answer. A call of the sweep takes 10 s on a busy machine. */
export const answerMs = 60_000;

/** Longer than one wait, so that the wait fails first: its error names the missing event. */
export const testTimeoutMs = 300_000;

/**
 * Settings of the deployment under test (infra/settings/config.ts), in seconds. The others keep their defaults. A message whose
 * consumer was killed is visible again after 12 minutes, longer than any test: then the test sweeps.
 *
 * - The wait for the webhook and the start window are longer than any test (300 s). The deadline must hold both:
 *   600 + 400 = 1,000.
 * - Retries and polls run every 1 or 2 s. First and longest interval are equal, because the emulator ignores
 *   MaxDelaySeconds and a growing interval would outlast the suite.
 * - That is at most (1,000 + 100) / 0.5 = 2,200 polls and 600 / 1 = 600 start attempts: 3 × 2,201 + 4 × 613 + 6 = 9,061
 *   history events, of the 10,000 that infra/settings/config.ts allows.
 * - A start call may take 45 s, as `finish-first` answers it after a delivery that may be repeated: 4 × 45 + 3 = 183.
 * - The breakers never open, as all tests share them and many make the provider fail.
 * - Starts have no rate, and the 429s that tests plan are too few for one: 20 calls in a few seconds, of which more than 5 % are refused.
 * - The sweep's schedule is longer than the suite, because a sweep leases the records of every test. Each test invokes
 *   sweeps for its own records.
 */
export const settings = {
  webhookWaitSeconds: '400',
  startWindowSeconds: '600',
  deadlineSeconds: '1000',
  machineSlackSeconds: '100',
  startRetryFirstSeconds: '2',
  startRetryEverySeconds: '2',
  pollFirstSeconds: '1',
  pollEverySeconds: '1',
  sweepEveryMinutes: '60',
  signingKeyRefreshSeconds: '1',
  breakerFailures: '1000',
  providerTimeoutMs: '45000',
  startTimeoutSeconds: '190',
  widgetConfigId: 'sandbox-widget',
  callersMayErase: 'true',
} as const;

/**
 * Settings of the deployment for the outages. Breakers open, and have turns, as by default. So 55 starts are held for half a
 * minute, and are retried at intervals that leave the emulator time for other functions.
 */
export const outageSettings = {
  ...settings,
  breakerFailures: '5',
  // Not 5, the default: `stretchAwsTimeouts` takes a timer of 5 s for one of the SDK.
  breakerSlowCallSeconds: '4',
  providerTimeoutMs: '20000',
  startRetryFirstSeconds: '15',
  startRetryEverySeconds: '15',
} as const;

/**
 * At least the timeout of each function, in seconds. The API's and the webhook's have 10 and 15 on AWS. The emulator starts
 * a process for each concurrent call, which can take that long on a busy machine, and one that is killed costs another start.
 */
export const functionTimeoutSeconds = 40;

/**
 * How the sandbox delivers, in milliseconds. The provider's attempts are 30 s apart and wait 5 s for an answer. Here the
 * first retries come sooner, the last come later, and an answer may take as long as the function. That is less than
 * `providerTimeoutMs` (45 s), so that a start call answered after its own delivery is still answered in time.
 */
export const deliveries = {
  deliveryIntervalsMs: [0, 1_500, 5_000, 20_000, 60_000],
  attemptTimeoutMs: functionTimeoutSeconds * 1_000,
};
