import { terminalStatuses } from '../../../lib/extraction/record.ts';
import type { Random } from '../../support/data/random.ts';
import { plain, type Scenario } from './scenario.ts';

const ends = (endsAfter: number | 'never', more: Partial<Scenario['task']> = {}): Scenario['task'] => ({
  endsAfter,
  status: 'COMPLETED',
  ...more,
});

/** The scenarios of the bounded search. The name of each states how it differs from the plain one. */
export const scenarios: readonly Scenario[] = [
  plain,
  { ...plain, name: 'at-once', task: ends(0) },
  { ...plain, name: 'silent', webhook: 'silent' },
  { ...plain, name: 'no-webhooks', webhook: 'not requested', task: ends(30) },
  { ...plain, name: 'after-the-wait', task: ends(45) },
  { ...plain, name: 'late', task: ends(110) },
  { ...plain, name: 'late-silent', task: ends(110), webhook: 'silent' },
  { ...plain, name: 'after-grace', task: ends(260) },
  { ...plain, name: 'never', task: ends('never') },
  { ...plain, name: 'wrong-credentials', task: ends(3, { status: 'CREDENTIALS_WRONG' }) },
  { ...plain, name: 'wrong-password', task: ends(3, { status: 'CREDENTIALS_WRONG' }), marks: 'none' },
  {
    ...plain,
    name: 'wrong-password-silent',
    task: ends(3, { status: 'CREDENTIALS_WRONG' }),
    webhook: 'silent',
    marks: 'none',
  },
  { ...plain, name: 'refused-before', marks: 'refused' },
  {
    ...plain,
    name: 'disagreeing',
    task: ends(12, { readAs: 'PARTIAL' }),
    interruptions: 'unreported',
  },
  { ...plain, name: 'too-large', task: ends(12, { tooLarge: true }) },
  { ...plain, name: 'too-large-silent', task: ends(12, { tooLarge: true }), webhook: 'silent' },
  { ...plain, name: 'too-large-late', task: ends(95, { tooLarge: true }), webhook: 'silent' },
  { ...plain, name: 'others-task', task: ends(12, { ofAnother: true }) },
  { ...plain, name: 'others-task-at-once', task: ends(0, { ofAnother: true }) },
  {
    ...plain,
    name: 'others-task-silent',
    task: ends(12, { ofAnother: true }),
    webhook: 'silent',
    interruptions: 'unreported',
  },
  { ...plain, name: 'ends-process', task: ends(12, { endsProcesses: 1_000 }) },
  { ...plain, name: 'ends-process-silent', task: ends(12, { endsProcesses: 1_000 }), webhook: 'silent' },
  { ...plain, name: 'ends-process-late', task: ends(110, { endsProcesses: 1_000 }), webhook: 'silent' },
  {
    ...plain,
    name: 'ends-process-paused',
    task: ends(12, { endsProcesses: 1_000 }),
    breakers: { paused: { names: ['reads'], from: 100, until: 400 } },
  },
  { ...plain, name: 'ends-two-processes', task: ends(12, { endsProcesses: 2 }) },
  { ...plain, name: 'ends-two-processes-silent', task: ends(12, { endsProcesses: 2 }), webhook: 'silent' },
  { ...plain, name: 'ends-process-consent', method: 'consent-v1', task: ends(12, { endsProcesses: 1_000 }) },
  { ...plain, name: 'forgotten', task: ends(12, { keptFor: 1 }) },
  { ...plain, name: 'refused', startAnswers: ['refused'] },
  // The user changes the consent between the refusal and the read of the consent.
  { ...plain, name: 'consent-refused', method: 'consent-v1', startAnswers: ['refused'] },
  { ...plain, name: 'consent-refused-v2', method: 'consent-v2', startAnswers: ['busy', 'refused'] },
  {
    ...plain,
    name: 'consent-refused-at-second',
    method: 'consent-v2',
    startAnswers: ['unauthorized', 'refused'],
  },
  { ...plain, name: 'busy-first', startAnswers: ['busy'] },
  { ...plain, name: 'over-quota', startAnswers: Array.from({ length: 20 }, () => 'over quota' as const) },
  { ...plain, name: 'busy-for-long', startAnswers: Array.from({ length: 20 }, () => 'busy' as const) },
  {
    ...plain,
    name: 'busy-with-short-pauses',
    jitter: 0.3,
    startAnswers: Array.from({ length: 20 }, () => 'busy' as const),
  },
  { ...plain, name: 'busy-for-a-time', startAnswers: ['busy for a time'] },
  { ...plain, name: 'token-expired', startAnswers: ['unauthorized'] },
  { ...plain, name: 'callers-token', callersToken: true, startAnswers: ['unauthorized'] },
  { ...plain, name: 'outage', outage: { from: 10, to: 70 } },
  { ...plain, name: 'long-outage', outage: { from: 10, to: 400 } },
  { ...plain, name: 'interruption-unreported', interruptions: 'unreported' },
  { ...plain, name: 'out-of-memory', interruptions: 'Runtime.OutOfMemory' },
  { ...plain, name: 'broken-deploy', brokenDeployUntil: 20 },
  // Longer than a message is received again, so that it becomes a dead letter.
  { ...plain, name: 'broken-deploy-for-long', brokenDeployUntil: 2_000 },
  { ...plain, name: 'coarse-clock', clock: 'coarse' },
  { ...plain, name: 'skewed-clocks', skew: 30 },
  { ...plain, name: 'lagging-consumers', method: 'consent-v1', lag: 1.5, task: ends(110) },
  { ...plain, name: 'skewed-reconcile', skew: 30, reconcileAfter: 5 },
  { ...plain, name: 'disagreeing-empty', task: ends(12, { readAs: 'CREDENTIALS_WRONG' }) },
  { ...plain, name: 'at-once-unreadable', task: ends(0), outage: { from: 0, to: 600 } },
  { ...plain, name: 'consent-v1', method: 'consent-v1' },
  { ...plain, name: 'consent-v2', method: 'consent-v2', task: ends(12, { status: 'FAILED' }) },
  { ...plain, name: 'consent-outage', method: 'consent-v2', outage: { from: 0, to: 70 } },
  { ...plain, name: 'consent-too-large', method: 'consent-v2', task: ends(12, { tooLarge: true }) },
  { ...plain, name: 'consent-no-data', method: 'consent-v2', task: ends(12, { shape: 'no-data' }) },
  {
    ...plain,
    name: 'consent-byte-order-mark',
    method: 'consent-v1',
    task: ends(12, { shape: 'byte-order-mark' }),
  },
  { ...plain, name: 'consent-late', method: 'consent-v1', task: ends(110) },
  // The last read is the only one that finds the outcome, and an operator reads at the same time.
  { ...plain, name: 'consent-last-read', method: 'consent-v1', reconcileAfter: 202, task: ends(200) },
  { ...plain, name: 'newer-record', webhook: 'silent', newer: { from: 14, until: 120 } },
  { ...plain, name: 'newer-outcome', newer: { from: 12, until: 200 } },
  { ...plain, name: 'newer-consent', method: 'consent-v1', newer: { from: 8, until: 300 } },
  {
    ...plain,
    name: 'request-lost',
    requestLostAfter: 5,
    breakers: { paused: { names: ['starts'], until: 15 } },
  },
  { ...plain, name: 'request-lost-consent', method: 'consent-v1', requestLostAfter: 8, task: ends(30) },
  { ...plain, name: 'longer-settings', method: 'consent-v1', requestExpiresAfter: 160, task: ends(150) },
  { ...plain, name: 'skewed-consent', method: 'consent-v1', skew: 30, reconcileAfter: 5 },
  { ...plain, name: 'breakers', breakers: {}, startAnswers: ['unreachable', 'unreachable', 'busy'] },
  { ...plain, name: 'breakers-open', breakers: { open: true } },
  { ...plain, name: 'starts-paused', breakers: { paused: { names: ['starts'], until: 15 } } },
  { ...plain, name: 'starts-paused-for-long', breakers: { paused: { names: ['starts'], until: 300 } } },
  {
    ...plain,
    name: 'reads-paused',
    webhook: 'silent',
    breakers: { paused: { names: ['reads'], until: 60 } },
  },
  {
    ...plain,
    name: 'reads-paused-for-long',
    webhook: 'silent',
    breakers: { paused: { names: ['reads'], until: 600 } },
  },
];

const drawBreakers = (random: Random): NonNullable<Scenario['breakers']> => ({
  ...(random.below(2) === 0 ? { open: random.pick([true, false, true]) } : {}),
  ...(random.below(3) === 0
    ? {
        paused: {
          names: random.pick([['starts'], ['reads'], ['starts', 'reads']] as const),
          until: random.pick([10, 60, 300]),
        },
      }
    : {}),
});

/**
 * A random scenario from all combinations of properties. Its name is its seed. `another` draws the properties that were
 * added later, so that they leave the schedules of most seeds as they were.
 */
export const drawScenario = (random: Random, another: Random, name: string): Scenario => {
  const method = random.pick([
    'credentials',
    'credentials',
    'credentials',
    'consent-v1',
    'consent-v2',
  ] as const);
  const status =
    method === 'credentials'
      ? random.pick(terminalStatuses)
      : random.pick(method === 'consent-v1' ? (['COMPLETED'] as const) : (['COMPLETED', 'FAILED'] as const));
  const disagrees = method === 'credentials' && random.below(8) === 0;
  const outage = { from: random.below(120), to: 0 };
  return {
    name,
    method,
    callersToken: method === 'credentials' && random.below(8) === 0,
    startAnswers: Array.from({ length: random.pick([0, 0, 0, 0, 1, 2, 12]) }, () =>
      random.pick([
        'busy',
        'busy for a time',
        'unreachable',
        'unreachable',
        'unauthorized',
        'refused',
      ] as const),
    ),
    task: {
      endsAfter: random.pick([0, 1, 5, 12, 25, 45, 88, 95, 110, 150, 260, 'never'] as const),
      status,
      ...(disagrees ? { readAs: random.pick(terminalStatuses) } : {}),
      ...(random.below(12) === 0 ? { keptFor: random.pick([1, 60]) } : {}),
      ...(random.below(16) === 0 ? { tooLarge: true } : {}),
      ...(another.below(16) === 0 ? { endsProcesses: another.pick([1, 2, 3, 1_000]) } : {}),
      ...(method === 'credentials' && random.below(16) === 0 ? { ofAnother: true } : {}),
      ...(random.below(16) === 0 ? { shape: random.pick(['no-data', 'byte-order-mark'] as const) } : {}),
    },
    webhook: random.below(5) === 0 ? 'silent' : 'sent',
    ...(random.below(6) === 0 ? { outage: { ...outage, to: outage.from + random.pick([20, 60, 300]) } } : {}),
    jitter: random.pick([0, 0.3, 1]),
    clock: random.pick(['fine', 'fine', 'coarse']),
    skew: random.pick([0, 0, 0, 0, 0, 0, 0, 30]),
    lag: random.pick([0, 0, 0, 1.5, 8]),
    interruptions: random.pick([
      'Runtime.ExitError',
      'Runtime.OutOfMemory',
      'Lambda.Unknown',
      'unreported',
    ] as const),
    ...(random.below(8) === 0 ? { reconcileAfter: random.pick([3, 5, 15]) } : {}),
    ...(random.below(6) === 0 ? { breakers: drawBreakers(random) } : {}),
    ...(another.below(12) === 0
      ? {
          newer: another.pick([
            { from: 1, until: 30 },
            { from: 10, until: 300 },
          ]),
        }
      : {}),
    ...(another.below(16) === 0 ? { requestLostAfter: another.pick([1, 5, 60]) } : {}),
    ...(random.below(12) === 0 ? { brokenDeployUntil: random.pick([5, 20, 60]) } : {}),
    ...(method === 'credentials' && another.below(8) === 0 ? { webhook: 'not requested' } : {}),
  };
};
