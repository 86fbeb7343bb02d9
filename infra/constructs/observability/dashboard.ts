import { Duration } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type HorizontalAnnotation,
  type IAlarm,
  type IMetric,
  type IWidget,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { stackNameOf } from '../../../lib/aws/stage.ts';
import type { MetricName } from '../../../lib/observability/metric-names.ts';
import type { Config } from '../../settings/config.ts';
import { overdueFrom, queueLateFrom, stuckFrom } from './alarm-table.ts';
import type { CosechaMetrics } from './metrics.ts';

type CosechaDashboardProps = {
  readonly config: Config;
  readonly metrics: CosechaMetrics;
  readonly alarms: readonly IAlarm[];
};

/** How long the provider waits for the answer to a delivery ("Events" in its API document). */
const providerTimeout: HorizontalAnnotation = { value: 5_000, label: 'the provider disconnects' };

/** CloudWatch's grid is 24 wide. */
const fullWidth = 24;

type Graph = (width: number, metrics: CosechaMetrics) => IWidget;

/** A name is the sum of a metric that Cosecha's own code counts. */
const graph =
  (
    title: string,
    left: readonly (MetricName | IMetric)[],
    lines: readonly HorizontalAnnotation[] = [],
  ): Graph =>
  (width, { custom }) =>
    new GraphWidget({
      title,
      width,
      height: 6,
      left: left.map((one) => (typeof one === 'string' ? custom(one) : one)),
      leftAnnotations: [...lines],
      leftYAxis: { min: 0, showUnits: false },
    });

/** Whether outcomes are late, how they were recorded, and which of them the provider did not report. */
const outcomeRow = (config: Config, { custom }: CosechaMetrics): readonly Graph[] => [
  graph(
    'Open and past due: the oldest, in seconds',
    [custom('OldestOverdueSeconds', Stats.MAXIMUM), custom('OldestStuckSeconds', Stats.MAXIMUM)],
    [
      { value: overdueFrom(config), label: 'overdue' },
      { value: stuckFrom(config), label: 'stuck' },
    ],
  ),
  graph('Settled by provider status, by source', [
    'SettledByWebhook',
    'SettledByStart',
    'SettledByReconcile',
    'WebhookMissed',
    'Corrected',
  ]),
  graph('Ended by an outcome of Cosecha, and all that failed', [
    'Rejected',
    'NotStarted',
    'Unconfirmed',
    'TimedOut',
    'OutcomeFailed',
  ]),
];

const startRow = ({ custom, executions, startTaskErrors }: CosechaMetrics): readonly Graph[] => [
  graph('Starting: executions', [executions('ExecutionsStarted'), executions('ExecutionsSucceeded')]),
  graph('Seconds from the request to start and outcome', [
    custom('SecondsToStart', Stats.p(50)),
    custom('SecondsToStart', Stats.p(95)),
    custom('SecondsToOutcome', Stats.p(50)),
    custom('SecondsToOutcome', Stats.p(95)),
  ]),
  graph('Starting: retried', [
    'ProviderBusy',
    'ProviderUnreachable',
    'ProviderUnauthorized',
    'LoggedIn',
    'SessionRefused',
    'QuotaReached',
    'SecretNotFilled',
    'KeyFailed',
    'RequestDataGone',
    'RequestDataNotRemoved',
    startTaskErrors,
  ]),
];

const webhookRow = ({ webhook, webhookErrors, webhookThrottles }: CosechaMetrics): readonly Graph[] => [
  graph(
    'Webhook: latency in milliseconds',
    [webhook('Latency', Stats.p(50)), webhook('Latency', Stats.p(99))],
    [providerTimeout],
  ),
  graph('Webhook: refused', [
    'WebhookSignatureMismatch',
    'WebhookKeyEncoded',
    'WebhookSignatureMissing',
    'WebhookSignatureMalformed',
    'WebhookTooLarge',
    'WebhookUnreadable',
  ]),
  graph('Webhook: answers', [
    webhook('Count'),
    // Those above the number of refused deliveries are the 429 of API Gateway's throttle.
    webhook('4xx'),
    webhook('5xx'),
    webhookErrors,
    webhookThrottles,
  ]),
  graph('Webhook: unlinked deliveries', [
    'UnlinkedDelivery',
    'EarlyDelivery',
    'DeliveryWithoutRecord',
    'TaskLinkedElsewhere',
    'InvalidCallbackToken',
  ]),
];

const providerRow = ({ custom, dispatcher }: CosechaMetrics): readonly Graph[] => [
  graph('Provider: failed reads', ['ProviderReadFailed']),
  graph('Provider: calls that are held', ['StartsHeld', 'ReadsHeld', 'BreakerOpened', 'BreakerUnavailable']),
  graph('Provider: starts in line', [
    custom('StartsInLine', Stats.MAXIMUM),
    'StartsReleased',
    'StartRate',
    'RateUnavailable',
    'RateCutUndone',
  ]),
  graph('Provider: dispatcher', [dispatcher.invocations, dispatcher.errors, dispatcher.throttles]),
  graph('Provider: undocumented answers', [
    'UnknownTaskStatus',
    'WebhookUnknownStatus',
    'StatusDisagreement',
    'UnexpectedResults',
  ]),
  graph('Collection', [
    'Collected',
    'CollectionFailed',
    'CollectionDeferred',
    'CollectionAbandoned',
    'ResultsIncomplete',
    'UnknownRecord',
  ]),
];

const queueRow = (config: Config, metrics: CosechaMetrics): readonly Graph[] => [
  graph(
    'Reconcile queue, slow queue and erase queue: the oldest message, in seconds',
    [metrics.oldestMessageSeconds, metrics.oldestSlowMessageSeconds, metrics.oldestErasureSeconds],
    [{ value: queueLateFrom(config), label: 'reconcile-queue-late, slow-queue-late' }],
  ),
  graph('Reconcile queue: messages', [metrics.queuedMessages, metrics.delayedMessages]),
  graph('Dead letters of reconciles and erasures, and overdue erasures', [
    metrics.deadLetters,
    metrics.eraseDeadLetters,
    'ErasureOverdue',
  ]),
];

const sweepRow = ({ executions, brokenExecutionsReported, api }: CosechaMetrics): readonly Graph[] => [
  graph('Sweeps', ['SweepStarted', 'SweepFinished', 'SweepSent', 'SweepFailed', 'SweepCutShort']),
  graph('Executions: broken, and reported by the rule', [
    executions('ExecutionsFailed'),
    executions('ExecutionsTimedOut'),
    executions('ExecutionsAborted'),
    executions('ExecutionThrottled'),
    brokenExecutionsReported,
  ]),
  graph('API: requests and failures', [api('Count'), api('4xx'), api('5xx')]),
];

/** The dashboard `Cosecha-<stage>`: first the guarantees, then each part that they depend on, in the order of an extraction. */
export class CosechaDashboard extends Construct {
  readonly name: string;

  constructor(scope: Construct, id: string, { config, metrics, alarms }: CosechaDashboardProps) {
    super(scope, id);
    this.name = stackNameOf(config.stage);
    const rows = [
      outcomeRow(config, metrics),
      startRow(metrics),
      webhookRow(metrics),
      providerRow(metrics),
      queueRow(config, metrics),
      sweepRow(metrics),
    ];
    new Dashboard(this, 'Dashboard', {
      dashboardName: this.name,
      defaultInterval: Duration.hours(12),
      widgets: [
        ...rows.map((row) => row.map((graph) => graph(fullWidth / row.length, metrics))),
        [new AlarmStatusWidget({ title: 'Alarms', width: fullWidth, height: 6, alarms: [...alarms] })],
      ],
    });
  }
}
