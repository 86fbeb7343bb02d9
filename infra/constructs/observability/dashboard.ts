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

const row = (...graphs: readonly ((width: number) => IWidget)[]): IWidget[] =>
  graphs.map((graph) => graph(fullWidth / graphs.length));

const graph =
  (title: string, left: readonly IMetric[], lines: readonly HorizontalAnnotation[] = []) =>
  (width: number): IWidget =>
    new GraphWidget({
      title,
      width,
      height: 6,
      left: [...left],
      leftAnnotations: [...lines],
      leftYAxis: { min: 0, showUnits: false },
    });

/** Whether outcomes are late, how they were recorded, and which of them the provider did not report. */
const outcomeRow = (config: Config, { custom }: CosechaMetrics): IWidget[] =>
  row(
    graph(
      'Open and past due: the oldest, in seconds',
      [custom('OldestOverdueSeconds', Stats.MAXIMUM), custom('OldestStuckSeconds', Stats.MAXIMUM)],
      [
        { value: overdueFrom(config), label: 'overdue' },
        { value: stuckFrom(config), label: 'stuck' },
      ],
    ),
    graph('Settled by provider status, by source', [
      custom('SettledByWebhook'),
      custom('SettledByStart'),
      custom('SettledByReconcile'),
      custom('WebhookMissed'),
      custom('Corrected'),
    ]),
    graph('Ended by an outcome of Cosecha, and all that failed', [
      custom('Rejected'),
      custom('NotStarted'),
      custom('Unconfirmed'),
      custom('TimedOut'),
      custom('OutcomeFailed'),
    ]),
  );

const startRow = ({ custom, executions, startTaskErrors }: CosechaMetrics): IWidget[] =>
  row(
    graph('Starting: executions', [executions('ExecutionsStarted'), executions('ExecutionsSucceeded')]),
    graph('Seconds from the request to start and outcome', [
      custom('SecondsToStart', Stats.p(50)),
      custom('SecondsToStart', Stats.p(95)),
      custom('SecondsToOutcome', Stats.p(50)),
      custom('SecondsToOutcome', Stats.p(95)),
    ]),
    graph('Starting: retried', [
      custom('ProviderBusy'),
      custom('ProviderUnreachable'),
      custom('ProviderUnauthorized'),
      custom('LoggedIn'),
      custom('SessionRefused'),
      custom('QuotaReached'),
      custom('SecretNotFilled'),
      custom('KeyFailed'),
      custom('RequestDataGone'),
      custom('RequestDataNotRemoved'),
      startTaskErrors,
    ]),
  );

const webhookRow = ({ custom, webhook, webhookErrors, webhookThrottles }: CosechaMetrics): IWidget[] =>
  row(
    graph(
      'Webhook: latency in milliseconds',
      [webhook('Latency', Stats.p(50)), webhook('Latency', Stats.p(99))],
      [providerTimeout],
    ),
    graph('Webhook: refused', [
      custom('WebhookSignatureMismatch'),
      custom('WebhookKeyEncoded'),
      custom('WebhookSignatureMissing'),
      custom('WebhookSignatureMalformed'),
      custom('WebhookTooLarge'),
      custom('WebhookUnreadable'),
    ]),
    graph('Webhook: answers', [
      webhook('Count', Stats.SUM),
      // Those above the number of refused deliveries are the 429 of API Gateway's throttle.
      webhook('4xx', Stats.SUM),
      webhook('5xx', Stats.SUM),
      webhookErrors,
      webhookThrottles,
    ]),
    graph('Webhook: unlinked deliveries', [
      custom('UnlinkedDelivery'),
      custom('EarlyDelivery'),
      custom('DeliveryWithoutRecord'),
      custom('TaskLinkedElsewhere'),
      custom('InvalidCallbackToken'),
    ]),
  );

const providerRow = ({ custom, dispatcher }: CosechaMetrics): IWidget[] =>
  row(
    graph('Provider: failed reads', [custom('ProviderReadFailed')]),
    graph('Provider: calls that are held', [
      custom('StartsHeld'),
      custom('ReadsHeld'),
      custom('BreakerOpened'),
      custom('BreakerUnavailable'),
    ]),
    graph('Provider: starts in line', [
      custom('StartsInLine', Stats.MAXIMUM),
      custom('StartsReleased'),
      custom('StartRate'),
      custom('RateUnavailable'),
      custom('RateCutUndone'),
    ]),
    graph('Provider: dispatcher', [dispatcher.invocations, dispatcher.errors, dispatcher.throttles]),
    graph('Provider: undocumented answers', [
      custom('UnknownTaskStatus'),
      custom('WebhookUnknownStatus'),
      custom('StatusDisagreement'),
      custom('UnexpectedResults'),
    ]),
    graph('Collection', [
      custom('Collected'),
      custom('CollectionFailed'),
      custom('CollectionDeferred'),
      custom('CollectionAbandoned'),
      custom('ResultsIncomplete'),
      custom('UnknownRecord'),
    ]),
  );

const queueRow = (config: Config, metrics: CosechaMetrics): IWidget[] =>
  row(
    graph(
      'Reconcile queue, slow queue and erase queue: the oldest message, in seconds',
      [metrics.oldestMessageSeconds, metrics.oldestSlowMessageSeconds, metrics.oldestErasureSeconds],
      [{ value: queueLateFrom(config), label: 'reconcile-queue-late, slow-queue-late' }],
    ),
    graph('Reconcile queue: messages', [metrics.queuedMessages, metrics.delayedMessages]),
    graph('Dead letters of reconciles and erasures, and overdue erasures', [
      metrics.deadLetters,
      metrics.eraseDeadLetters,
      metrics.custom('ErasureOverdue'),
    ]),
  );

const sweepRow = ({ custom, executions, brokenExecutionsReported, api }: CosechaMetrics): IWidget[] =>
  row(
    graph('Sweeps', [
      custom('SweepStarted'),
      custom('SweepFinished'),
      custom('SweepSent'),
      custom('SweepFailed'),
      custom('SweepCutShort'),
    ]),
    graph('Executions: broken, and reported by the rule', [
      executions('ExecutionsFailed'),
      executions('ExecutionsTimedOut'),
      executions('ExecutionsAborted'),
      executions('ExecutionThrottled'),
      brokenExecutionsReported,
    ]),
    graph('API: requests and failures', [
      api('Count', Stats.SUM),
      api('4xx', Stats.SUM),
      api('5xx', Stats.SUM),
    ]),
  );

/** The dashboard `Cosecha-<stage>`: first the guarantees, then each part that they depend on, in the order of an extraction. */
export class CosechaDashboard extends Construct {
  readonly name: string;

  constructor(scope: Construct, id: string, { config, metrics, alarms }: CosechaDashboardProps) {
    super(scope, id);
    this.name = stackNameOf(config.stage);
    new Dashboard(this, 'Dashboard', {
      dashboardName: this.name,
      defaultInterval: Duration.hours(12),
      widgets: [
        outcomeRow(config, metrics),
        startRow(metrics),
        webhookRow(metrics),
        providerRow(metrics),
        queueRow(config, metrics),
        sweepRow(metrics),
        [new AlarmStatusWidget({ title: 'Alarms', width: fullWidth, height: 6, alarms: [...alarms] })],
      ],
    });
  }
}
