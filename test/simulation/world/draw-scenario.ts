import { terminalStatuses } from '#lib/extraction/record.ts';
import type { Random } from '../../support/data/random.ts';
import { laggingShapes } from '../models/provider.ts';
import { plain, type Scenario } from './scenario.ts';

const ends = (endsAfter: number | 'never', more: Partial<Scenario['task']> = {}): Scenario['task'] => ({
  endsAfter,
  status: 'COMPLETED',
  ...more,
});

/** How the scenarios of the bounded search differ from the plain one, which the name of each states. */
const differences: Readonly<Record<string, Partial<Scenario>>> = {
  'at-once': { task: ends(0) },
  silent: { webhook: 'silent' },
  'silent-poll-lost': { webhook: 'silent', firstPollLost: true },
  'no-webhooks': { webhook: 'not requested', task: ends(30) },
  'after-the-wait': { task: ends(45) },
  late: { task: ends(110) },
  'late-silent': { task: ends(110), webhook: 'silent' },
  'after-grace': { task: ends(260) },
  never: { task: ends('never') },
  'wrong-credentials': { task: ends(3, { status: 'CREDENTIALS_WRONG' }) },
  'wrong-password': { task: ends(3, { status: 'CREDENTIALS_WRONG' }), marks: 'none' },
  'wrong-password-silent': {
    task: ends(3, { status: 'CREDENTIALS_WRONG' }),
    webhook: 'silent',
    marks: 'none',
  },
  'wrong-password-reconciled': {
    task: ends(5, { status: 'CREDENTIALS_WRONG' }),
    webhook: 'silent',
    reconcileAfter: 5,
    marks: 'none',
  },
  'refused-before': { marks: 'refused' },
  disagreeing: { task: ends(12, { readAs: 'PARTIAL' }), interruptions: 'unreported' },
  'too-large': { task: ends(12, { tooLarge: true }) },
  'too-large-silent': { task: ends(12, { tooLarge: true }), webhook: 'silent' },
  'too-large-late': { task: ends(95, { tooLarge: true }), webhook: 'silent' },
  'others-task': { task: ends(12, { ofAnother: true }) },
  'others-task-at-once': { task: ends(0, { ofAnother: true }) },
  'others-task-silent': {
    task: ends(12, { ofAnother: true }),
    webhook: 'silent',
    interruptions: 'unreported',
  },
  'ends-process': { task: ends(12, { endsProcesses: 1_000 }) },
  'ends-process-silent': { task: ends(12, { endsProcesses: 1_000 }), webhook: 'silent' },
  'ends-process-late': { task: ends(110, { endsProcesses: 1_000 }), webhook: 'silent' },
  'ends-process-paused': {
    task: ends(12, { endsProcesses: 1_000 }),
    breakers: { paused: { names: ['reads'], from: 100, until: 400 } },
  },
  'ends-two-processes': { task: ends(12, { endsProcesses: 2 }) },
  'ends-two-processes-silent': { task: ends(12, { endsProcesses: 2 }), webhook: 'silent' },
  'ends-process-consent': { method: 'consent-v1', task: ends(12, { endsProcesses: 1_000 }) },
  forgotten: { task: ends(12, { keptFor: 1 }) },
  refused: { startAnswers: ['refused'] },
  // The user changes the consent between the refusal and the read of the consent.
  'consent-refused': { method: 'consent-v1', startAnswers: ['refused'] },
  'consent-refused-v2': { method: 'consent-v2', startAnswers: ['busy', 'refused'] },
  'consent-refused-at-second': { method: 'consent-v2', startAnswers: ['unauthorized', 'refused'] },
  'busy-first': { startAnswers: ['busy'] },
  'erased-at-once': { eraseAfter: 0 },
  'erased-before-a-retry': { eraseAfter: 1, startAnswers: ['busy', 'busy', 'busy'] },
  'erased-while-running': { eraseAfter: 3 },
  'erased-while-collecting': { eraseAfter: 14, task: ends(12, { lagging: { for: 20, shape: 'null' } }) },
  // While its results are read and stored.
  'erased-as-it-ends': { eraseAfter: 12.011 },
  'erased-in-grace': { eraseAfter: 106, task: ends(110), webhook: 'silent' },
  'erased-before-a-late-delivery': { eraseAfter: 95, task: ends(300), webhook: 'sent' },
  'erased-consent': { method: 'consent-v1', eraseAfter: 3 },
  'over-quota': { startAnswers: Array.from({ length: 20 }, () => 'over quota' as const) },
  'busy-for-long': { startAnswers: Array.from({ length: 20 }, () => 'busy' as const) },
  'busy-with-short-pauses': { jitter: 0.3, startAnswers: Array.from({ length: 20 }, () => 'busy' as const) },
  'busy-for-a-time': { startAnswers: ['busy for a time'] },
  'busy-for-a-time-at-window-end': {
    startAnswers: ['unreachable', 'unreachable', 'unreachable', 'unreachable', 'busy for a time'],
  },
  'token-expired': { startAnswers: ['unauthorized'] },
  'callers-token': { callersToken: true, startAnswers: ['unauthorized'] },
  outage: { outage: { from: 10, to: 70 } },
  'long-outage': { outage: { from: 10, to: 400 } },
  'interruption-unreported': { interruptions: 'unreported' },
  'out-of-memory': { interruptions: 'Runtime.OutOfMemory' },
  'broken-deploy': { brokenDeployUntil: 20 },
  // Longer than a message is received again, so that it becomes a dead letter.
  'broken-deploy-for-long': { brokenDeployUntil: 2_000 },
  'coarse-clock': { clock: 'coarse' },
  'skewed-clocks': { skew: 30 },
  'lagging-consumers': { method: 'consent-v1', lag: 1.5, task: ends(110) },
  // At the moment of the second try.
  cancelled: { cancelAfter: 2.01, startAnswers: ['busy'] },
  'cancelled-consent': { method: 'consent-v1', cancelAfter: 2.01, startAnswers: ['unreachable', 'busy'] },
  'skewed-reconcile': { skew: 30, reconcileAfter: 5 },
  'disagreeing-empty': { task: ends(12, { readAs: 'CREDENTIALS_WRONG' }) },
  'at-once-unreadable': { task: ends(0), outage: { from: 0, to: 600 } },
  'consent-v1': { method: 'consent-v1' },
  'consent-v2': { method: 'consent-v2', task: ends(12, { status: 'FAILED' }) },
  'consent-outage': { method: 'consent-v2', outage: { from: 0, to: 70 } },
  'consent-too-large': { method: 'consent-v2', task: ends(12, { tooLarge: true }) },
  'consent-no-data': { method: 'consent-v2', task: ends(12, { shape: 'no-data' }) },
  'consent-byte-order-mark': { method: 'consent-v1', task: ends(12, { shape: 'byte-order-mark' }) },
  'lagging-null': { task: ends(12, { lagging: { for: 20, shape: 'null' } }) },
  'lagging-one-of-two': { task: ends(12, { lagging: { for: 20, shape: 'one of two' } }) },
  'lagging-for-ever': { task: ends(12, { lagging: { for: 10_000, shape: 'another action' } }) },
  'lagging-failure': { task: ends(12, { status: 'FAILED', lagging: { for: 20, shape: 'absent' } }) },
  'lagging-consent': { method: 'consent-v1', task: ends(12, { lagging: { for: 20, shape: 'empty' } }) },
  'consent-late': { method: 'consent-v1', task: ends(110) },
  // The last read is the only one that finds the outcome, and an operator reads at the same time.
  'consent-last-read': { method: 'consent-v1', reconcileAfter: 202, task: ends(200) },
  'newer-record': { webhook: 'silent', newer: { from: 14, until: 120 } },
  'newer-outcome': { newer: { from: 12, until: 200 } },
  'newer-consent': { method: 'consent-v1', newer: { from: 8, until: 300 } },
  'request-lost': { requestLostAfter: 5, breakers: { paused: { names: ['starts'], until: 15 } } },
  'request-lost-consent': { method: 'consent-v1', requestLostAfter: 8, task: ends(30) },
  'longer-settings': { method: 'consent-v1', requestExpiresAfter: 160, task: ends(150) },
  'skewed-consent': { method: 'consent-v1', skew: 30, reconcileAfter: 5 },
  breakers: { breakers: {}, startAnswers: ['unreachable', 'unreachable', 'busy'] },
  'breakers-open': { breakers: { open: true } },
  'starts-paused': { breakers: { paused: { names: ['starts'], until: 15 } } },
  'starts-paused-for-long': { breakers: { paused: { names: ['starts'], until: 300 } } },
  'reads-paused': { webhook: 'silent', breakers: { paused: { names: ['reads'], until: 60 } } },
  'reads-paused-for-long': { webhook: 'silent', breakers: { paused: { names: ['reads'], until: 600 } } },
  'over-the-rate': { line: { perSecond: 0.1, takenUntil: 9 } },
  'refused-by-the-rate': { line: {}, startAnswers: ['over the rate', 'over the rate'] },
  'over-the-rate-at-window-end': {
    line: {},
    startAnswers: [
      'unreachable',
      'unreachable',
      'unreachable',
      'unreachable',
      'unreachable',
      'over the rate',
    ],
  },
  // As the dispatcher releases it.
  'cancelled-in-line': { line: { perSecond: 0.1, takenUntil: 19 }, cancelAfter: 20 },
  'erased-in-line': { line: { perSecond: 0.1, takenUntil: 19, deadFrom: 4 }, eraseAfter: 4 },
  'waits-twice': {
    line: { perSecond: 0.04, takenUntil: 40, deadFrom: 47 },
    startAnswers: ['over the rate'],
    reconcileAfter: 50,
  },
  'no-dispatcher': { line: { perSecond: 0.1, takenUntil: 19, deadFrom: 0 } },
};

/** The scenarios of the bounded search. */
export const scenarios: readonly Scenario[] = [
  plain,
  ...Object.entries(differences).map(([name, difference]) => ({ ...plain, name, ...difference })),
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

const drawLine = (random: Random): NonNullable<Scenario['line']> => ({
  ...(random.below(3) === 0
    ? {}
    : { perSecond: random.pick([0.04, 0.1, 1]), takenUntil: random.pick([9, 19, 40]) }),
  ...(random.below(4) === 0 ? { deadFrom: random.pick([0, 15, 47]) } : {}),
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
  const drawn: Scenario = {
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
  const lagging =
    another.below(8) === 0
      ? { for: another.pick([5, 30, 60, 10_000]), shape: another.pick(laggingShapes) }
      : undefined;
  return {
    ...drawn,
    ...(lagging === undefined ? {} : { task: { ...drawn.task, lagging } }),
    ...(another.below(12) === 0 ? { cancelAfter: another.pick([1, 2.01, 5]) } : {}),
    ...(another.below(16) === 0 ? { firstPollLost: true } : {}),
    ...(another.below(8) === 0
      ? {
          line: drawLine(another),
          startAnswers: [
            ...(another.below(2) === 0 ? (['over the rate'] as const) : []),
            ...drawn.startAnswers,
          ],
        }
      : {}),
  };
};
