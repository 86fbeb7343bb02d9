import { Duration, Stack } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type HorizontalAnnotation,
  type IMetric,
  type IWidget,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Config } from '../config.ts';
import { overdueFrom, unclosedFrom } from './alarms.ts';
import type { CosechaMetrics } from './metrics.ts';

interface CosechaDashboardProps {
  readonly config: Config;
  readonly metrics: CosechaMetrics;
  readonly alarms: readonly Alarm[];
}

/** What the provider waits for the answer to a delivery ("Events"). */
const PROVIDER_HANGS_UP: HorizontalAnnotation = { value: 5_000, label: 'the provider hangs up' };

/** CloudWatch's grid is 24 wide. */
const FULL_WIDTH = 24;

const row = (...graphs: readonly ((width: number) => IWidget)[]): IWidget[] =>
  graphs.map((graph) => graph(FULL_WIDTH / graphs.length));

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

/** The dashboard `Cosecha-<stage>`: the promise first, then each part that it rests on, in the order of the way. */
export class CosechaDashboard extends Construct {
  readonly name: string;

  constructor(scope: Construct, id: string, { config, metrics, alarms }: CosechaDashboardProps) {
    super(scope, id);
    const { counted, executions, webhook, api } = metrics;
    this.name = Stack.of(this).stackName;
    new Dashboard(this, 'Dashboard', {
      dashboardName: this.name,
      defaultInterval: Duration.hours(12),
      widgets: [
        row(
          graph(
            'Open and past due: the oldest, in seconds',
            [counted('OldestOverdueSeconds', Stats.MAXIMUM), counted('OldestUnclosedSeconds', Stats.MAXIMUM)],
            [
              { value: overdueFrom(config), label: 'overdue' },
              { value: unclosedFrom(config), label: 'never closing' },
            ],
          ),
          graph("Settled by the provider's word: how it came", [
            counted('SettledByWebhook'),
            counted('SettledByStart'),
            counted('SettledByReconcile'),
            counted('WebhookMissed'),
            counted('LateTruth'),
          ]),
          graph('Ended without it', [
            counted('Rejected'),
            counted('NotStarted'),
            counted('Unconfirmed'),
            counted('TimedOut'),
          ]),
        ),
        row(
          graph('Starting: executions', [executions('ExecutionsStarted'), executions('ExecutionsSucceeded')]),
          graph('Starting: put off', [
            counted('ProviderBusy'),
            counted('ProviderUnreachable'),
            counted('ProviderUnauthorized'),
            counted('SecretNotFilled'),
            metrics.startTaskErrors,
          ]),
        ),
        row(
          graph(
            'Webhook: time to the answer, in milliseconds',
            [webhook('Latency', Stats.p(50)), webhook('Latency', Stats.p(99))],
            [PROVIDER_HANGS_UP],
          ),
          graph('Webhook: refused', [
            counted('WebhookSignatureMismatch'),
            counted('WebhookSignatureMissing'),
            counted('WebhookSignatureMalformed'),
            counted('WebhookTooLarge'),
            counted('WebhookUnreadable'),
          ]),
          graph('Webhook: answers', [
            webhook('Count', Stats.SUM),
            // What is more here than is refused was throttled by API Gateway, with 429.
            webhook('4xx', Stats.SUM),
            webhook('5xx', Stats.SUM),
            metrics.webhookErrors,
            metrics.webhookThrottles,
          ]),
          graph('Webhook: deliveries nobody was linked to', [
            counted('UnlinkedDelivery'),
            counted('EarlyDelivery'),
            counted('DeliveryWithoutRecord'),
            counted('TaskLinkedElsewhere'),
            counted('InvalidTaskToken'),
          ]),
        ),
        row(
          graph('Provider: reads without an answer', [counted('PollWithoutAnswer')]),
          graph('Provider: what its document does not say', [
            counted('UnknownTaskStatus'),
            counted('WebhookUnknownStatus'),
            counted('StatusDisagreement'),
            counted('UnexpectedResults'),
          ]),
          graph('Collection', [
            counted('Collected'),
            counted('CollectionFailed'),
            counted('CollectionPutOff'),
            counted('CollectionGivenUp'),
          ]),
        ),
        row(
          graph('Safety net: sweeps', [
            counted('SweepBegun'),
            counted('Swept'),
            counted('SweepClaimed'),
            counted('SweepFailed'),
            counted('SweepCutShort'),
          ]),
          graph('Safety net: dead letters', [metrics.deadLetters]),
          graph('Safety net: executions broken', [
            executions('ExecutionsFailed'),
            executions('ExecutionsTimedOut'),
            executions('ExecutionsAborted'),
            executions('ExecutionThrottled'),
          ]),
          graph('API: requests and failures', [
            api('Count', Stats.SUM),
            api('4xx', Stats.SUM),
            api('5xx', Stats.SUM),
          ]),
        ),
        [new AlarmStatusWidget({ title: 'Alarms', width: FULL_WIDTH, height: 6, alarms: [...alarms] })],
      ],
    });
  }
}
