import { stackNameOf } from '../../lib/aws/stage.ts';

/** The CDK app of a stage, in place of that of cdk.json. */
export const acceptanceApp = 'node tools/acceptance/app.ts';

/** The bank of every extraction by credentials. */
export const fakeEntity = 'fake-bank';

export const fakeProviderStackNameOf = (stage: string): string => `${stackNameOf(stage)}-fake-provider`;

/** The stack of those who use a stage with a fake provider. */
export const readersStackNameOf = (stage: string): string => `${stackNameOf(stage)}-readers`;

/**
 * What both kinds of stage need: short retries, so that a run waits for little but its deadlines. The starts that fail on
 * purpose, three in a run, must not open the breaker for the others.
 */
const common = {
  breakerFailures: '50',
  startRetryFirstSeconds: '2',
  pollFirstSeconds: '1',
  signingKeyRefreshSeconds: '1',
  logRetentionDays: '1',
  publishEvents: 'true',
};

/**
 * The settings of a stage for `npm run accept` on AWS, in seconds where they do not name a unit. They are as short as each
 * other allows (infra/settings/config.ts):
 *
 * - A call to the fake provider may take 10 s. A cold start of it takes two or three; a start call that hangs takes 25.
 * - start-task makes up to four calls and 3 s of its own work: 4 × 10 + 3 = 43, and 3 s for the read of a consent. So 46. The webhook is waited for longer, 50.
 * - A start may be tried for 40 s, of which the fake provider is busy for at most 20.
 * - The deadline is at least both: 40 + 50 = 90. The task that has to time out ends 20 s later, at 110.
 * - An extraction can be erased once reconcile-extraction's timeout has passed: 4 × 10 + 40 = 80.
 * - The sweep runs every minute, so it corrects and collects by 110 + 60 = 170.
 * - A task by consent is polled every second, and ends after 60 s. A poll takes about half a second more, so there are about
 *   40: more than the 16 invocations after which Lambda stops a function that may not invoke itself through a queue.
 *
 * So the checks that run together take three minutes. A real alarm may take up to nine.
 */
export const awsSettings: Readonly<Record<string, string>> = {
  ...common,
  providerTimeoutMs: '10000',
  startTimeoutSeconds: '46',
  webhookWaitSeconds: '50',
  startWindowSeconds: '40',
  startRetryEverySeconds: '4',
  deadlineSeconds: '90',
  machineSlackSeconds: '30',
  pollEverySeconds: '1',
  reconcileConcurrency: '50',
  collectForSeconds: '600',
  graceSeconds: '600',
  sweepEveryMinutes: '1',
  watchedEntities: fakeEntity,
};

/**
 * The settings of a stage for `npm run accept` on an emulator, MiniStack. Every window is longer than a run, so that a slow machine
 * exceeds none. `moveTime` ends those that a check waits for. First and longest interval are equal, because the emulator
 * ignores MaxDelaySeconds. The deadline holds start window and wait: 600 + 400 = 1,000.
 */
export const emulatorSettings: Readonly<Record<string, string>> = {
  ...common,
  webhookWaitSeconds: '400',
  startWindowSeconds: '600',
  startRetryEverySeconds: '2',
  deadlineSeconds: '1000',
  machineSlackSeconds: '100',
  pollEverySeconds: '1',
  sweepEveryMinutes: '60',
};

/** On an emulator that needs no adapted template, with what MiniStack lacks. */
export const completeEmulatorSettings: Readonly<Record<string, string>> = {
  ...emulatorSettings,
  reconcileConcurrency: '50',
  watchedEntities: fakeEntity,
};

/** For how long extractions stay in their states in an upgrade, in seconds: longer than the update, which on AWS takes minutes. */
export const upgradeStateSeconds = 300;

/** For an upgrade, in place of those settings: no window ends a state before its time, and a busy provider opens no breaker. */
export const upgradeSettings: Readonly<Record<string, string>> = {
  breakerFailures: '1000',
  webhookWaitSeconds: String(upgradeStateSeconds + 60),
  startWindowSeconds: String(upgradeStateSeconds + 60),
  deadlineSeconds: String(2 * (upgradeStateSeconds + 60)),
  sweepEveryMinutes: '1',
};

/**
 * When the task ends that has to time out, on an emulator: 90 s after its start. By then `moveTime` has moved its
 * deadline, which takes two seconds on an idle machine and up to half a minute on a busy one.
 */
export const emulatorLateTaskSeconds = 90;
