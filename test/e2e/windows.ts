/**
 * The time limits of the end-to-end tests, all in one place.
 *
 * A slow machine must not fail a test. So every window of the deployment is longer than the longest test, and no test
 * waits for one to pass: it moves the record's times into the past instead (`backdate`), ends the wait for the webhook
 * itself (`endWebhookWait`), or brings the next sweep forward (`sweepUntilClosed`). The two windows that are really
 * waited for are in `webhook-wait.test.ts` and `outage.test.ts`, which run alone.
 */

/** The longest that a test waits for one event. Idle, most take under 2 s, and the slowest some 25 s. */
export const waitMs = 240_000;

/** Longer than one wait, so that what fails is the wait, which names what it waited for. */
export const testTimeoutMs = 300_000;

/**
 * Settings of the deployment under test (infra/config.ts); what is not here is as by default. Seconds.
 *
 * - A webhook is waited for, a start is tried and a task may run longer than any test takes (300 s). A deadline must
 *   hold the other two: 600 + 400 = 1,000.
 * - Retries and polls come after 1 or 2 s. The emulator ignores MaxDelaySeconds, under which an interval that grows
 *   would outgrow the suite: first and longest are the same.
 * - That is (1,000 + 100) / 0.5 = 2,200 polls at most and 600 / 1 = 600 tries to start: 3 × 2,201 + 4 × 613 + 6 = 9,061
 *   events of history, of the 12,000 that infra/config.ts allows.
 * - The schedule of the sweep is one that never comes, as a sweep claims the records of every test. Each test invokes
 *   sweeps of its own records.
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
  collectInMachineSeconds: '600',
  sweepEveryMinutes: '60',
  signingKeyRefreshSeconds: '1',
  widgetConfigId: 'sandbox-widget',
} as const;

/**
 * How the sandbox delivers, in milliseconds. The document's attempts are 30 s apart and wait 5 s for an answer. Here the
 * first repeats come sooner, the last come late, and an answer may take three times as long: five deliveries in a row
 * fail only if the machine is stuck for a minute. Less than `providerTimeoutMs` (20 s), so that a start call that is
 * answered after its own delivery still is answered in time.
 */
export const deliveries = {
  deliveryIntervalsMs: [0, 1_500, 5_000, 20_000, 60_000],
  attemptTimeoutMs: 15_000,
};
