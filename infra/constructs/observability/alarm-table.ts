import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { maxDelaySeconds, overdueAfterSeconds } from '../../../lib/extraction/deadlines.ts';
import { refusedSessions } from '../../../lib/provider/assumptions.ts';
import type { Config } from '../../settings/config.ts';
import { erasuresLateFrom } from '../erase-queue.ts';
import { reconcileTimeout } from '../reconcile-queue.ts';
import { visibilityTimeout } from '../work-queue.ts';
import type { AlarmEntry } from './alarm.ts';
import type { CosechaMetrics } from './metrics.ts';

const minutes = (count: number) => ({ period: Duration.minutes(count) });

/**
 * `bad`, where it is at least `atLeast` and at least one percent of `all`, else 0: under load, a few failures are chance.
 * AWS publishes both metrics for each request, so `all` has a value in every period in which `bad` has one.
 */
const notByChance = (bad: IMetric, all: IMetric, atLeast: number, label: string, period = 5): IMetric =>
  new MathExpression({
    expression: `IF(bad >= ${atLeast} AND bad >= all / 100, bad, 0)`,
    usingMetrics: { bad, all },
    ...minutes(period),
    label,
  });

/**
 * `bad` of an hour, where it is more than one in 500 of `all`, else 0. Among a million extractions a day, some always end so by
 * chance: a connection is reset, or a provider is busy for a whole start window. Among a few thousand, each one counts. In
 * five minutes, the share itself would be chance (alarm-noise.test.ts).
 */
const moreThanChance = (bad: IMetric, all: IMetric, label: string): IMetric =>
  new MathExpression({
    expression: 'IF(bad > all / 500, bad, 0)',
    usingMetrics: { bad, all },
    ...minutes(60),
    label,
  });

/**
 * 1 where one of these causes was counted, and its effect was not, else 0. A cause and its effect can fall into different periods, once
 * in some hundred. SUM leaves out what has no value, which `+` and FILL do not where a metric has none at all: a part that is off
 * publishes nothing (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html).
 */
const withoutEffect = (causes: readonly IMetric[], effect: IMetric, label: string, period = 15): IMetric => {
  const names = causes.map((_, index) => `cause${index}`);
  return new MathExpression({
    expression: `IF(SUM([${names.join(', ')}]) > 0 AND SUM([effect, ${names.map((name) => `0 * ${name}`).join(', ')}]) == 0, 1, 0)`,
    usingMetrics: {
      ...Object.fromEntries(names.map((name, index) => [name, causes[index] as IMetric])),
      effect,
    },
    ...minutes(period),
    label,
  });
};

/** The period of metrics that a sweep writes: long enough to have a sweep in it. */
const sweepMinutes = (config: Config): number => Math.max(5, config.sweepEveryMinutes);

/** In seconds. */
export const overdueFrom = (config: Config): number => overdueAfterSeconds(config.sweepEveryMinutes);

/**
 * In seconds. The longest pause between two reconciles is an hour, so a record whose reconcile failed once can be that
 * late, plus one interval of the sweep. At an hour and three intervals, 75 minutes by default, it has failed again, or no
 * rule applies.
 */
export const stuckFrom = (config: Config): number => 3_600 + 3 * config.sweepEveryMinutes * 60;

/**
 * In seconds. The age of a message contains its delay, of up to 900 s. A message that failed once is older by its visibility
 * timeout, 720 s by default. Three minutes on top are 30 minutes by default, and it is never less.
 */
export const queueLateFrom = (config: Config): number =>
  Math.max(1_800, maxDelaySeconds + visibilityTimeout(reconcileTimeout(config)).toSeconds() + 180);

/**
 * How many reads one polling extraction makes in such a period. Intervals have full jitter, so the mean interval is half
 * of the longest. Default: 300 / (120 / 2) = 5, and 9 in the first five minutes, when intervals are shorter.
 */
const readsOfOne = (config: Config): number =>
  Math.ceil((60 * sweepMinutes(config)) / (config.pollEverySeconds / 2));

/** All outcomes. Each has a time, and is one sample of it, in the same period as its own metric. */
const endedOf = ({ custom }: CosechaMetrics): IMetric => custom('SecondsToOutcome', Stats.SAMPLE_COUNT);

/** All alarms, each of which requires action. A test checks that docs/operations.md has an entry for each. */
export const alarmTable = (config: Config, metrics: CosechaMetrics): readonly AlarmEntry[] => [
  ...sweepAlarms(config, metrics),
  ...queueAlarms(config, metrics),
  ...eventAlarms(metrics),
  ...outcomeAlarms(metrics),
  ...machineAlarms(metrics),
  ...startAlarms(metrics),
  ...webhookAlarms(metrics),
  ...deliveryAlarms(metrics),
  ...providerAlarms(config, metrics),
  ...heldAlarms(config, metrics),
  ...callerAlarms(metrics),
];

/** Every extraction reaches an outcome and is closed. */
const sweepAlarms = (config: Config, metrics: CosechaMetrics): readonly AlarmEntry[] => [
  {
    id: 'overdue',
    pages: true,
    symptom:
      'Callers wait for outcomes or results that are due: the sweep does not keep up with open extractions.',
    metric: metrics.custom('OldestOverdueSeconds', Stats.MAXIMUM).with(minutes(sweepMinutes(config))),
    threshold: overdueFrom(config),
  },
  {
    id: 'stuck',
    symptom:
      'An extraction does not close: every one of its deadlines has passed, and reconciling it changes nothing.',
    // Every reconcile sets a new dueAt, which `overdue` measures, but not this. Two hours, as the pause is an hour at most.
    metric: metrics.custom('OldestStuckSeconds', Stats.MAXIMUM).with(minutes(120)),
    threshold: stuckFrom(config),
  },
  {
    id: 'sweep-not-running',
    pages: true,
    symptom:
      'Extractions whose message was lost are not reconciled: no sweep has finished for three of its intervals.',
    // A sweep counts 1 when it finishes, and nothing before. One sweep that fails as a whole does not suffice for an alarm, as
    // EventBridge retries it.
    metric: metrics.custom('SweepFinished').with(minutes(5)),
    below: true,
    periods: {
      breaching: Math.ceil((3 * config.sweepEveryMinutes) / 5),
      of: Math.ceil((3 * config.sweepEveryMinutes) / 5),
    },
  },
  {
    id: 'sweep-failed',
    symptom:
      'Extractions that are due are not reconciled: the sweep cannot lease them or send them to the queue.',
    // A record that failed is due again after 5 to 13 minutes, so it fails in every second or third sweep. Two of four
    // periods are the same failure again; a single one can be chance.
    metric: metrics.custom('SweepFailed').with(minutes(sweepMinutes(config))),
    periods: { breaching: 2, of: 4 },
  },
];

const queueAlarms = (
  config: Config,
  {
    oldestMessageSeconds,
    oldestSlowMessageSeconds,
    deadLetters,
    oldestErasureSeconds,
    eraseDeadLetters,
    custom,
  }: CosechaMetrics,
): readonly AlarmEntry[] => [
  {
    id: 'reconcile-queue-late',
    pages: true,
    symptom:
      'Callers wait for results, and outcomes by consent are late: messages wait in the reconcile queue, as their consumer does not keep up or does not run.',
    metric: oldestMessageSeconds,
    threshold: queueLateFrom(config),
    periods: { breaching: 2, of: 2 },
  },
  {
    id: 'slow-queue-late',
    runbookEntry: 'reconcile-queue-late',
    symptom:
      'Results come late: messages wait in the slow queue, as the provider answers too few reads, or the queue has no consumer.',
    // The sweep renews a lease after 5 to 15 minutes, and its older message is dropped. An older one that waits is behind reads.
    metric: oldestSlowMessageSeconds,
    threshold: queueLateFrom(config),
    periods: { breaching: 2, of: 2 },
  },
  {
    id: 'dead-letters',
    symptom:
      'An extraction is not closed: each time its message was received, the reconcile failed or its process ended.',
    // SQS publishes metrics of a queue for up to six hours after the last call on it. Then a queue with a message in it has
    // no values any more, so the alarm has to keep its state. A redrive is a call, after which SQS publishes 0.
    // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    metric: deadLetters,
    keepsState: true,
  },
  {
    id: 'erasures-failed',
    symptom:
      'What was to be erased is still stored: a message of an erasure failed each time it was received.',
    metric: eraseDeadLetters,
    keepsState: true,
  },
  {
    id: 'erasures-late',
    symptom:
      'What was to be erased is still stored: messages of erasures wait, as their consumer does not keep up or does not run.',
    metric: oldestErasureSeconds,
    threshold: erasuresLateFrom,
    periods: { breaching: 2, of: 2 },
  },
  {
    id: 'erasures-overdue',
    runbookEntry: 'erasures-late',
    symptom:
      'What was to be erased is still stored, as its extraction stays open for longer than any should.',
    // An erasure that waits has a message every 15 minutes at the latest, and counts each.
    metric: custom('ErasureOverdue').with(minutes(30)),
  },
];

/** The function that publishes to the bus. It retries a record for `publishForSeconds`. */
const eventAlarms = ({ events, custom }: CosechaMetrics): readonly AlarmEntry[] => {
  if (events === undefined) return [];
  const { age, invocations, deadLetters } = events;
  const runbookEntry = 'events-unpublished';
  return [
    {
      id: 'events-late',
      runbookEntry,
      symptom:
        'Outcomes reach the consumers of the bus late: for a quarter of an hour, they have waited in the stream.',
      // Retries follow within seconds. The window is one second, and a batch ends within a minute.
      metric: age,
      threshold: Duration.minutes(5).toMilliseconds(),
      periods: { breaching: 3, of: 3 },
    },
    {
      id: 'events-stopped',
      runbookEntry,
      symptom:
        'Outcomes do not reach the consumers of the bus: publish-events is not invoked, as its mapping is off or cannot read the stream.',
      // A mapping that is off publishes no metric. Each outcome is a record that passes its filter, so that outcomes without an
      // invocation show it. Two periods, as an outcome and its invocation can fall into different ones.
      metric: withoutEffect(
        [custom('SecondsToOutcome', Stats.SAMPLE_COUNT)],
        invocations,
        'outcomes without an invocation of publish-events',
        30,
      ),
      periods: { breaching: 2, of: 2 },
      keepsState: true,
    },
    {
      id: 'events-abandoned',
      runbookEntry,
      symptom: 'Consumers of the bus lack outcomes: publish-events abandoned records of the stream.',
      metric: deadLetters,
      keepsState: true,
    },
  ];
};

/** Outcomes are known, and they are true. */
const outcomeAlarms = (metrics: CosechaMetrics): readonly AlarmEntry[] => [
  {
    id: 'unconfirmed',
    symptom:
      'It is unknown whether an extraction runs at the provider: its start call got no answer, or the task of another.',
    // Each is a task that may run and whose final status reaches no extraction. None is normal.
    metric: moreThanChance(metrics.custom('Unconfirmed'), endedOf(metrics), 'unconfirmed'),
  },
  {
    id: 'request-data-gone',
    symptom: 'The sealed data of a request are gone, so that its extraction cannot be started or read.',
    metric: metrics.custom('RequestDataGone'),
  },
  {
    id: 'request-data-kept',
    symptom:
      'Sealed credentials or national ids stay although they were used: their items could not be removed.',
    metric: metrics.custom('RequestDataNotRemoved'),
  },
  {
    id: 'unknown-record',
    symptom:
      'Extractions stand still: a newer version has written their records, and the version that is deployed does not know them.',
    // Each record is deferred for 15 minutes (`maxDelaySeconds`), and counted each time.
    metric: metrics.custom('UnknownRecord').with(minutes(30)),
  },
  {
    id: 'orphan-deliveries',
    symptom: 'The provider delivered the final status of a task that no extraction knows.',
    // A delivery for an unlinked task counts as unlinked. If it was only early, its extraction counts it as early when it
    // links the task, about a second later. A sliding hour would often end between the two, so the alarm evaluates whole
    // hours of the clock. Exceptions are a delivery within that second before the hour, 1 in 3,600, and one that is
    // delivered twice before a slow start has linked it (see docs/operations.md).
    metric: new MathExpression({
      expression: 'IF(unlinked - early > settled / 500, unlinked - early, 0)',
      usingMetrics: {
        unlinked: metrics.custom('UnlinkedDelivery'),
        early: metrics.custom('EarlyDelivery'),
        settled: metrics.custom('SettledByWebhook'),
      },
      ...minutes(60),
      label: 'orphan deliveries',
    }),
    wholeHours: true,
  },
  {
    id: 'records-missing',
    symptom:
      'Records of extractions are missing: the provider delivered the final status of a task whose extraction has no record.',
    // Tasks keeps a link for 30 days. A record is kept for at least 91 days after it closed.
    metric: metrics.custom('DeliveryWithoutRecord'),
  },
  {
    id: 'status-disagreements',
    symptom: 'The provider reported two different final statuses of one task; callers have the first.',
    metric: metrics.custom('StatusDisagreement'),
  },
  {
    id: 'task-linked-elsewhere',
    pages: true,
    symptom:
      'The provider gave one taskId to two extractions: the second was closed without an outcome, the first may show the results of another user.',
    metric: metrics.custom('TaskLinkedElsewhere'),
  },
];

/** Three alarms, as `+` over a metric that was never written has no value. */
const brokenExecutions = [
  { metric: 'ExecutionsFailed', id: 'executions-failed', cause: 'which failed' },
  { metric: 'ExecutionsTimedOut', id: 'executions-timed-out', cause: 'which timed out' },
  { metric: 'ExecutionsAborted', id: 'executions-aborted', cause: 'which somebody stopped' },
] as const;

const machineAlarms = (metrics: CosechaMetrics): readonly AlarmEntry[] => [
  // A working machine ends every execution as succeeded, whatever the extraction's outcome.
  ...brokenExecutions.map(({ metric, id, cause }) => ({
    id,
    runbookEntry: 'executions-broken',
    symptom: `Extractions lost their execution, ${cause}; the sweep has to reconcile them.`,
    metric: metrics.executions(metric),
  })),
  {
    id: 'executions-unreported',
    runbookEntry: 'executions-broken',
    symptom:
      'Extractions that lost their execution wait for the sweep: the rule that reports them does not, as it is off or may not send.',
    metric: withoutEffect(
      brokenExecutions.map(({ metric }) => metrics.executions(metric)),
      metrics.brokenExecutionsReported,
      'broken executions that no rule reported',
    ),
  },
  {
    id: 'invalid-callback-token',
    symptom: 'Webhooks do not wake the machine: Step Functions rejects a stored callback token as invalid.',
    metric: metrics.custom('InvalidCallbackToken'),
  },
];

const startAlarms = (metrics: CosechaMetrics): readonly AlarmEntry[] => [
  {
    id: 'not-started',
    symptom:
      'A caller got no extraction: for the whole start window the provider was unreachable or busy, or refused the API key.',
    // With the defaults, that is 15 minutes and about twenty attempts.
    metric: moreThanChance(metrics.custom('NotStarted'), endedOf(metrics), 'not started'),
  },
  {
    id: 'start-task-errors',
    symptom: 'Starts are interrupted: the function start-task crashes or times out.',
    // The machine retries after at most 2, 4, 8, 16, 32 s, so a start that always crashes makes five errors in five
    // minutes. Three errors can be one start whose first two retries crashed as well.
    metric: notByChance(metrics.startTaskErrors, metrics.startTaskInvocations, 3, 'errors of start-task'),
    threshold: 3,
  },
  {
    id: 'secret-not-filled',
    pages: true,
    symptom: 'Nothing can start, or no webhook can be verified: a secret has no value.',
    metric: metrics.custom('SecretNotFilled'),
  },
  {
    id: 'quota-reached',
    symptom: 'Nothing starts until the month ends: the monthly quota of the provider is used up.',
    // The provider counts by month, so that a single refusal is none by chance.
    metric: metrics.custom('QuotaReached'),
  },
  {
    id: 'sessions-refused',
    symptom:
      'Starts are slow, and some end NOT_STARTED: the provider refuses session tokens before they expire, so that starts need logins of their own.',
    metric: metrics.custom('SessionRefused').with(minutes(15)),
    threshold: refusedSessions,
    periods: { breaching: 2, of: 2 },
  },
  {
    id: 'key-failing',
    pages: true,
    symptom: 'Nothing starts, or nothing is recorded: AWS refuses calls because of a KMS key.',
    // Retries come every minute, so that a key that stays unusable fails in each period. A single failure is chance.
    metric: metrics.custom('KeyFailed'),
    periods: { breaching: 2, of: 3 },
  },
];

/** The route of the webhook. */
const webhookAlarms = (metrics: CosechaMetrics): readonly AlarmEntry[] => [
  {
    id: 'webhooks-missed',
    symptom: 'Callers wait minutes longer than necessary: outcomes are polled, as webhooks do not arrive.',
    // A task counts as missed only if all its five deliveries fail. If one delivery in ten fails by chance, that is 1 task
    // in 100,000, so one in ten has a cause. It takes at least five tasks in three hours: a single one at night raises no
    // alarm, and two an hour do.
    metric: new MathExpression({
      expression: 'IF(missed >= 5, 100 * missed / (missed + webhook + early), 0)',
      usingMetrics: {
        missed: metrics.custom('WebhookMissed'),
        webhook: metrics.custom('SettledByWebhook'),
        early: metrics.custom('SettledByStart'),
      },
      ...minutes(180),
      label: '% settled by a read that a webhook should have settled',
    }),
    threshold: 10,
  },
  {
    id: 'webhook-slow',
    symptom:
      'Webhooks may soon be lost: the provider disconnects after 5 s, and one answer in a hundred nears that.',
    // API Gateway's latency includes cold starts, which the function's Duration does not. It excludes the network: TCP, TLS
    // and the request are three round trips, 0.9 s from the other side of the world. 3 + 0.9 s leave a second. A cold start
    // and the work take about 1.5 s together. Three periods that have deliveries, as with few of them p99 is the slowest of them,
    // which is usually a cold start.
    metric: metrics.webhook('Latency', Stats.p(99)),
    threshold: 3_000,
    periods: { breaching: 3, of: 3 },
  },
  {
    id: 'webhook-failing',
    pages: true,
    symptom: 'Webhooks are answered 5xx: after five such answers in a row the provider abandons a task.',
    // API Gateway answers errors, timeouts and throttles of the function with 5xx. Five are all deliveries of one task, or
    // one each of five tasks.
    metric: notByChance(metrics.webhook('5xx'), metrics.webhook('Count'), 5, '5xx'),
    threshold: 5,
  },
];

/** What the webhook's function makes of a delivery. */
const deliveryAlarms = (metrics: CosechaMetrics): readonly AlarmEntry[] => [
  {
    id: 'signature-mismatch',
    pages: true,
    symptom: 'Webhooks that may be genuine are refused: their signature matches none of the stored keys.',
    // All five deliveries of one task come within two minutes. A rotation refuses one or two, as each process reads the keys
    // again at the first delivery that no known key verifies. `cosecha doctor` causes one. Missing and malformed
    // signatures are ordinary noise of the internet and raise no alarm.
    metric: metrics.custom('WebhookSignatureMismatch').with(minutes(15)),
    threshold: 5,
  },
  {
    id: 'signing-key-encoded',
    symptom:
      'Every webhook is refused: the provider signs with what the text of the stored key encodes or contains.',
    // Nobody without the key can cause it.
    metric: metrics.custom('WebhookKeyEncoded').with(minutes(15)),
  },
  {
    id: 'webhook-unreadable',
    symptom: 'Genuine webhooks are lost: their signature is valid, but they cannot be decrypted or parsed.',
    metric: metrics.custom('WebhookUnreadable'),
  },
];

/** Reads of the provider, and the results they bring. */
const providerAlarms = (config: Config, metrics: CosechaMetrics): readonly AlarmEntry[] => [
  {
    id: 'provider-reads-failing',
    symptom: 'Outcomes and results are delayed: reads of the provider fail.',
    // Twice the reads of one extraction that cannot be read, for three periods, 15 minutes by default. And more than the
    // results collected, so that a few failures under load raise no alarm. Each sweep adds 0 to both metrics, so a period
    // must have a sweep in it.
    metric: new MathExpression({
      expression: 'IF(failed > collected, failed, 0)',
      usingMetrics: { failed: metrics.custom('ProviderReadFailed'), collected: metrics.custom('Collected') },
      ...minutes(sweepMinutes(config)),
      label: 'failed reads',
    }),
    threshold: 2 * readsOfOne(config),
    periods: { breaching: 3, of: 3 },
  },
  {
    id: 'collection-failing',
    symptom: 'Callers have an outcome but not its results: the results cannot be read or stored.',
    // The retries of the first 15 minutes, which are the queue's, do not count. After the first hour a collection is retried
    // once an hour or one sweep later, so one hour of four can have none. By default 21 hours are left to act.
    metric: metrics.custom('CollectionDeferred').with(minutes(60)),
    periods: { breaching: 3, of: 4 },
  },
  {
    id: 'results-abandoned',
    symptom:
      'The results of an extraction were abandoned: they were too large, or could not be collected for a day.',
    // Each sweep adds 0 to Collected, and an hour has a sweep in it.
    metric: moreThanChance(
      metrics.custom('CollectionAbandoned'),
      metrics.custom('Collected'),
      'abandoned results',
    ),
  },
];

/** Extractions that wait: a breaker or an operator holds their calls, or the rate does. Two alarms of held calls, as a sum needs a value of both metrics. */
const heldAlarms = (config: Config, metrics: CosechaMetrics): readonly AlarmEntry[] => [
  {
    id: 'starts-held',
    runbookEntry: 'calls-held',
    symptom:
      'Extractions are not started: their entity fails, all entities of their caller do, or an operator paused starts.',
    metric: metrics.custom('StartsHeld'),
  },
  {
    id: 'reads-held',
    runbookEntry: 'calls-held',
    symptom: 'Tasks are not read: an operator paused reads.',
    metric: metrics.custom('ReadsHeld'),
  },
  {
    id: 'breakers-unavailable',
    symptom:
      'Nothing is held if the provider fails: the state of breakers or pauses cannot be read or written, so that every start is made.',
    // One call that fails is chance. A damaged item, a refused permission or a hot key fails in each period.
    metric: metrics.custom('BreakerUnavailable'),
    periods: { breaching: 2, of: 3 },
  },
  {
    id: 'dispatcher-not-running',
    pages: true,
    symptom:
      'Starts that wait for the rate of the provider, or for a breaker, are not released: for three minutes, no invocation of dispatch-starts has ended well.',
    // Its rule invokes it each minute, and one that finds another dispatcher at work ends at once. FILL, as CloudWatch else evaluates
    // older values in place of those that are missing (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html).
    metric: new MathExpression({
      expression: 'FILL(invoked - errors, 0)',
      usingMetrics: { invoked: metrics.dispatcher.invocations, errors: metrics.dispatcher.errors },
      ...minutes(1),
      label: 'invocations of dispatch-starts that ended well',
    }),
    below: true,
    periods: { breaching: 3, of: 3 },
  },
  {
    id: 'dispatcher-errors',
    runbookEntry: 'dispatcher-not-running',
    symptom: 'Starts that wait are released late: the function dispatch-starts crashes or times out.',
    // One that ends is replaced within a minute. Three in five minutes are the same failure again.
    metric: metrics.dispatcher.errors,
    threshold: 3,
  },
  {
    id: 'starts-wait',
    symptom:
      'More starts wait for the rate of the provider than expected: the last of them may wait too long.',
    metric: metrics.custom('StartsInLine', Stats.MAXIMUM),
    threshold: config.lineAlarmStarts,
    periods: { breaching: 3, of: 3 },
  },
];

const callerAlarms = (metrics: CosechaMetrics): readonly AlarmEntry[] => [
  {
    id: 'api-failing',
    pages: true,
    symptom: 'Requests of callers, or of the provider, are answered 5xx.',
    // A caller repeats a single failure. Five in five minutes are not chance.
    metric: notByChance(metrics.api('5xx'), metrics.api('Count'), 5, '5xx'),
    threshold: 5,
  },
  {
    id: 'api-failing-slowly',
    runbookEntry: 'api-failing',
    symptom: 'Requests of callers, or of the provider, are answered 5xx, fewer than five in five minutes.',
    // A route that is seldom used, or a deployment that is.
    metric: notByChance(metrics.api('5xx'), metrics.api('Count'), 5, '5xx', 60),
    threshold: 5,
  },
];
