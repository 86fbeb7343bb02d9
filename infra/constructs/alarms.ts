import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type CfnAlarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { Config } from '../config.ts';
import type { CosechaMetrics } from './metrics.ts';

/** One line of the table of alarms. It sounds at `threshold` or above, except where `below` says otherwise. */
type AlarmEntry = {
  /** Its name is `Cosecha-<stage>-<id>`. */
  readonly id: string;
  /** What is wrong, for whom, in one sentence. */
  readonly symptom: string;
  /** The heading of its entry in docs/operations.md, where that is not its id. */
  readonly runbookEntry?: string;
  readonly metric: IMetric;
  readonly threshold: number;
  /** Breaching periods that it takes, out of so many. One of one where left out. */
  readonly periods?: { readonly breaching: number; readonly of: number };
  /** Sounds below the threshold, and where there is no value at all. */
  readonly below?: true;
  /** Stays as it is, sounding or silent, while there is no value. */
  readonly keepsState?: true;
  /** Evaluates whole hours of the clock instead of the last 60 minutes. */
  readonly wholeHours?: true;
};

const minutes = (count: number) => ({ period: Duration.minutes(count) });

/**
 * So many, where that is at least one in a hundred as well: a few are chance under load. `all` has a value in every
 * period in which `bad` has one, as AWS tells both of each request.
 */
const notByChance = (bad: IMetric, all: IMetric, atLeast: number, label: string): IMetric =>
  new MathExpression({
    expression: `IF(bad >= ${atLeast} AND bad >= all / 100, bad, 0)`,
    usingMetrics: { bad, all },
    ...minutes(5),
    label,
  });

/** How long a period of the sweep's own metrics is: one that surely has a sweep in it. */
const sweepMinutes = (config: Config): number => Math.max(5, config.sweepEveryMinutes);

/**
 * In seconds. A sweep finds what is due within one interval. One that fails or is cut short makes that two; at three,
 * 15 minutes by default, sweeps do not bring it forward.
 */
export const overdueFrom = (config: Config): number => 3 * config.sweepEveryMinutes * 60;

/**
 * In seconds. An hour is the longest pause between two looks, so what fails once may be that late by then, and an
 * interval of the sweep; at three of them on top, 75 minutes by default, it has failed again, or no rule takes hold.
 */
export const stuckFrom = (config: Config): number => 3_600 + 3 * config.sweepEveryMinutes * 60;

/**
 * How many reads one extraction makes in such a period while it polls: jitter is full, so the mean pause is half
 * of the longest. Default: 300 / (120 / 2) = 5, and 9 in the first five minutes, when pauses are shorter.
 */
const readsOfOne = (config: Config): number =>
  Math.ceil((60 * sweepMinutes(config)) / (config.pollEverySeconds / 2));

/**
 * Symptoms that somebody has to act on, and nothing else. docs/operations.md has an entry for each: what it means,
 * where to look first, what to do. A test keeps the two together.
 */
const alarmTable = (config: Config, metrics: CosechaMetrics): readonly AlarmEntry[] => [
  // What was promised: that every extraction ends, and that its end is known.
  {
    id: 'overdue',
    symptom:
      'Callers wait for outcomes or results that are due: the sweep does not keep up with what is open.',
    metric: metrics.custom('OldestOverdueSeconds', Stats.MAXIMUM).with(minutes(sweepMinutes(config))),
    threshold: overdueFrom(config),
  },
  {
    id: 'stuck',
    symptom:
      'An extraction does not come to its end: its time is up by every rule, and looking at it changes nothing.',
    // Every look moves what `overdue` measures by; this it cannot move. Two hours, as it is looked at once an hour.
    metric: metrics.custom('OldestStuckSeconds', Stats.MAXIMUM).with(minutes(120)),
    threshold: stuckFrom(config),
  },
  {
    id: 'sweep-not-running',
    symptom:
      'Nobody looks after extractions whose execution broke: no sweep has ended for three of its intervals.',
    // Every sweep counts 0 as it begins and 1 as it ends. Three intervals, so that one that fails as a whole, which EventBridge tries
    // again, wakes nobody.
    metric: metrics.custom('SweepFinished').with(minutes(5)),
    threshold: 1,
    below: true,
    periods: {
      breaching: Math.ceil((3 * config.sweepEveryMinutes) / 5),
      of: Math.ceil((3 * config.sweepEveryMinutes) / 5),
    },
  },
  {
    id: 'sweep-crashed',
    symptom: 'Some extraction does not get on and holds up others: sweeps that look at it are killed.',
    // Such a sweep tells nothing after its beginning, and Lambda's retry finds everything claimed and succeeds, so
    // that sweep-not-running, sweep-failed and dead-letters hear nothing. What kills is claimed for 5 to 13 minutes, so it
    // is looked at again by the first, second or third sweep after: over eight of them at least three times, at 0, 15
    // and 30 minutes. Not period by period: a sweep that begins in one period and ends in the next would count there,
    // every time that chance has it. Here at most one, at the end of the eight, has begun and may yet end; so three
    // are two that died at the least.
    metric: new MathExpression({
      expression: 'begun - ended',
      usingMetrics: { begun: metrics.custom('SweepStarted'), ended: metrics.custom('SweepFinished') },
      ...minutes(8 * sweepMinutes(config)),
      label: 'sweeps that did not end',
    }),
    threshold: 3,
  },
  {
    id: 'sweep-failed',
    symptom:
      'Some extraction does not get on: each time that the sweep looks at it, something of ours fails.',
    // A record that failed is left alone for 5 to 13 minutes, so it fails in every second or third sweep: twice in
    // four periods is the same failure again, once was a hiccup.
    metric: metrics.custom('SweepFailed').with(minutes(sweepMinutes(config))),
    threshold: 1,
    periods: { breaching: 2, of: 4 },
  },
  {
    id: 'dead-letters',
    symptom:
      'A sweep, or the look at a broken execution, failed as a whole and twice: it waits in the queue.',
    // SQS tells numbers only of a queue that is active, which it is for up to six hours after the last call on it; so
    // with a message in it that nobody touches, they end. An alarm that is silent without any would be over then.
    // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    // A redrive is a call: it has the queue tell 0.
    metric: metrics.deadLetters,
    threshold: 1,
    keepsState: true,
  },
  ...(metrics.fanOutDeadLetters === undefined
    ? []
    : [
        {
          id: 'fan-out-dead-letters',
          symptom: 'Readers of the bus lack outcomes: the pipe gave up records of the stream.',
          metric: metrics.fanOutDeadLetters,
          threshold: 1,
          keepsState: true,
        } as const,
      ]),
  {
    id: 'unconfirmed',
    symptom:
      'A caller cannot be told whether its extraction runs: the start call was made and not answered, or with the task of another.',
    // Each is a task that may run with nobody to hear of its end. None is normal.
    metric: metrics.custom('Unconfirmed'),
    threshold: 1,
  },
  {
    id: 'orphan-deliveries',
    symptom: 'The provider told the end of a task that no extraction knows.',
    // Each delivery that finds nobody is counted as unlinked; those that were merely early are counted again when
    // their extraction finds them, a second later as a rule. Whole hours of the clock, as a sliding hour would end
    // between the two every time; so only one early within that second before the hour is taken for an orphan, 1 in
    // 3,600; and one that is delivered twice before a slow start has linked it (docs/operations.md says when).
    metric: new MathExpression({
      expression: 'unlinked - early',
      usingMetrics: {
        unlinked: metrics.custom('UnlinkedDelivery'),
        early: metrics.custom('EarlyDelivery'),
      },
      ...minutes(60),
      label: 'orphan deliveries',
    }),
    threshold: 1,
    wholeHours: true,
  },
  {
    id: 'records-missing',
    symptom:
      'Records of extractions are gone: the provider told the end of a task that is linked to none that is there.',
    // Tasks forgets a link after 30 days, and a record is kept for 91 at the least after its end.
    metric: metrics.custom('DeliveryWithoutRecord'),
    threshold: 1,
  },
  {
    id: 'status-disagreements',
    symptom: 'The provider named two different ends of one task; callers were told the first.',
    metric: metrics.custom('StatusDisagreement'),
    threshold: 1,
  },
  {
    id: 'task-linked-elsewhere',
    symptom:
      'The provider gave one taskId to two extractions: the second was closed without an outcome, the first may show the results of another user.',
    metric: metrics.custom('TaskLinkedElsewhere'),
    threshold: 1,
  },

  // The machine.
  ...(['Failed', 'TimedOut', 'Aborted'] as const).map(
    (how): AlarmEntry => ({
      id: `executions-${brokenExecutions[how].id}`,
      runbookEntry: 'executions-broken',
      symptom: `Extractions lost their execution, which ${brokenExecutions[how].ended}; the sweep has to bring them to their end.`,
      // A machine that works ends every execution by succeeding, however the extraction ends. Three alarms, as a
      // sum over a metric that was never written has no value.
      metric: metrics.executions(`Executions${how}`),
      threshold: 1,
    }),
  ),
  {
    id: 'invalid-callback-token',
    symptom:
      'Webhooks do not wake the machine: Step Functions does not know a task token of ours as its own.',
    metric: metrics.custom('InvalidCallbackToken'),
    threshold: 1,
  },

  // Starting.
  {
    id: 'not-started',
    symptom:
      'A caller got no extraction: for the whole start window the provider could not be reached or let us in.',
    // Not a blip: with the defaults it takes 15 minutes of tries, some twenty of them.
    metric: metrics.custom('NotStarted'),
    threshold: 1,
  },
  {
    id: 'start-task-errors',
    symptom: 'Starts break off: the function start-task crashes or runs out of time.',
    // The machine tries again after 2, 4, 8, 16, 32 s at most, so a start that always crashes makes five in five
    // minutes; three are a start whose second and third try crashed as well.
    metric: notByChance(metrics.startTaskErrors, metrics.startTaskInvocations, 3, 'errors of start-task'),
    threshold: 3,
  },
  {
    id: 'secret-not-filled',
    symptom: 'Nothing can start, or no webhook be checked: a secret has no value.',
    metric: metrics.custom('SecretNotFilled'),
    threshold: 1,
  },

  // The webhook.
  {
    id: 'webhooks-missed',
    symptom: 'Callers wait minutes longer than need be: outcomes come by polling, as webhooks do not arrive.',
    // All five deliveries of a task have to fail for it to be missed: if one delivery in ten fails by chance, that
    // is 1 task in 100,000. So one in ten has a cause. At least five of them, and over three hours, so that one
    // of one at night wakes nobody, and two an hour are enough to be heard.
    metric: new MathExpression({
      expression: 'IF(missed >= 5, 100 * missed / (missed + told + early), 0)',
      usingMetrics: {
        missed: metrics.custom('WebhookMissed'),
        told: metrics.custom('SettledByWebhook'),
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
      'Webhooks are about to be lost: the provider hangs up after 5 s, and one answer in a hundred nears that.',
    // What API Gateway measures, so cold starts are in it (the Duration of the function leaves out its init), and
    // the way to it is not: TCP, TLS and the request are three round trips, 0.9 s from the other side of the
    // world. 3 + 0.9 leaves a second. A cold start and the work are some 1.5 s together. Three periods in a row,
    // as with few deliveries in a period p99 is the slowest of them, and a cold one is among them every time.
    metric: metrics.webhook('Latency', Stats.p(99)),
    threshold: 3_000,
    periods: { breaching: 3, of: 3 },
  },
  {
    id: 'webhook-failing',
    symptom: 'Webhooks are answered 5xx: five such answers in a row, and the provider gives a task up.',
    // Errors, timeouts and throttles of the function are all answered 5xx by API Gateway. Five are all deliveries
    // of one task, or one each of five.
    metric: notByChance(metrics.webhook('5xx', Stats.SUM), metrics.webhook('Count', Stats.SUM), 5, '5xx'),
    threshold: 5,
  },
  {
    id: 'signature-mismatch',
    symptom: 'Webhooks that may be real are refused: they are signed, and with no key that we have.',
    // All five deliveries of one task within two minutes. A rotation refuses one or two (each process refetches the
    // keys on the first that it does not know), `cosecha doctor` one. Missing and malformed signatures are the
    // noise of the internet, and wake nobody.
    metric: metrics.custom('WebhookSignatureMismatch').with(minutes(15)),
    threshold: 5,
  },
  {
    id: 'webhook-unreadable',
    symptom: 'Webhooks are lost although they are real: they verify, and cannot be decrypted or read.',
    metric: metrics.custom('WebhookUnreadable'),
    threshold: 1,
  },

  // The provider, and what it has for us.
  {
    id: 'provider-reads-failing',
    symptom: 'Outcomes and results are held up: reads of the provider get no answer that tells anything.',
    // Twice what one extraction that cannot be read makes by itself, for three periods, 15 minutes by default; and
    // more than there were results collected, so that under load a few that fail by chance are none. While the
    // provider is silent nothing is collected, so a period has to have a sweep in it, which tells 0 of that.
    metric: new MathExpression({
      expression: 'IF(silent > collected, silent, 0)',
      usingMetrics: { silent: metrics.custom('ProviderReadFailed'), collected: metrics.custom('Collected') },
      ...minutes(sweepMinutes(config)),
      label: 'reads without an answer',
    }),
    threshold: 2 * readsOfOne(config),
    periods: { breaching: 3, of: 3 },
  },
  {
    id: 'collection-failing',
    symptom:
      'Callers know how an extraction ended and do not get its results: they cannot be read or stored.',
    // Not those that the machine tries again within its 5 minutes. After the first hour a failing collection is
    // tried once an hour, or a sweep later, so one hour of four may have none. By default 21 hours are left to act.
    metric: metrics.custom('CollectionDeferred').with(minutes(60)),
    threshold: 1,
    periods: { breaching: 3, of: 4 },
  },
  {
    id: 'results-abandoned',
    symptom:
      'The results of an extraction were abandoned: they were too large, or could not be had for a day.',
    metric: metrics.custom('CollectionAbandoned'),
    threshold: 1,
  },

  // Callers.
  {
    id: 'api-failing',
    symptom: 'Requests of callers, or of the provider, are answered 5xx.',
    // One in a while is repeated by its caller; five in five minutes are not chance.
    metric: notByChance(metrics.api('5xx', Stats.SUM), metrics.api('Count', Stats.SUM), 5, '5xx'),
    threshold: 5,
  },
];

const whenMissing = ({ below, keepsState }: AlarmEntry): TreatMissingData => {
  if (below) return TreatMissingData.BREACHING;
  return keepsState ? TreatMissingData.IGNORE : TreatMissingData.NOT_BREACHING;
};

const brokenExecutions = {
  Failed: { id: 'failed', ended: 'failed' },
  TimedOut: { id: 'timed-out', ended: 'timed out' },
  Aborted: { id: 'aborted', ended: 'somebody stopped' },
} as const;

type AlarmsProps = {
  readonly config: Config;
  readonly metrics: CosechaMetrics;
};

/** The alarms, named for people: `Cosecha-<stage>-<id>`. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];

  constructor(scope: Construct, id: string, { config, metrics }: AlarmsProps) {
    super(scope, id);
    this.all = alarmTable(config, metrics).map((entry) => this.alarm(entry, config));
    if (config.alarmTopicArn === undefined) return;
    const topic = new SnsAction(Topic.fromTopicArn(this, 'Topic', config.alarmTopicArn));
    for (const alarm of this.all) {
      alarm.addAlarmAction(topic);
      alarm.addOkAction(topic);
    }
  }

  private alarm(entry: AlarmEntry, config: Config): Alarm {
    const { id, metric, threshold, below = false, periods = { breaching: 1, of: 1 } } = entry;
    const alarm = new Alarm(this, id, {
      alarmName: `${Stack.of(this).stackName}-${id}`,
      alarmDescription: `${entry.symptom} ${config.runbookUrl}#${entry.runbookEntry ?? id}`,
      metric,
      threshold,
      comparisonOperator: below
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: periods.of,
      datapointsToAlarm: periods.breaching,
      treatMissingData: whenMissing(entry),
    });
    if (entry.wholeHours) {
      // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation-window.html
      const resource = alarm.node.defaultChild as CfnAlarm;
      resource.evaluationWindow = { wallClockWindow: { timezone: 'UTC' } };
    }
    return alarm;
  }
}
