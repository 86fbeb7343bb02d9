import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IRule } from 'aws-cdk-lib/aws-events';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import {
  type MetricName,
  metricsNamespace,
  metricsService,
} from '../../../lib/observability/metric-names.ts';
import type { Config } from '../../settings/config.ts';
import type { CosechaFunction } from '../cosecha-function.ts';
import type { EraseQueue } from '../erase-queue.ts';
import { type ExtractionApi, webhookPath } from '../extraction-api.ts';
import type { ReconcileQueue } from '../reconcile-queue.ts';
import type { OutcomeBus } from '../stream/outcome-bus.ts';

/** What has the metrics that the alarms and the dashboard use. */
type MetricSources = {
  readonly config: Config;
  readonly api: ExtractionApi;
  readonly machine: IStateMachine;
  readonly executionBroken: IRule;
  readonly queue: ReconcileQueue;
  readonly eraseQueue: EraseQueue;
  readonly startTask: CosechaFunction;
  readonly dispatchStarts: CosechaFunction;
  readonly receiveWebhook: CosechaFunction;
  /** Both only with `publishEvents`. */
  readonly outcomeBus?: OutcomeBus | undefined;
  readonly publishEvents?: CosechaFunction | undefined;
};

const period = Duration.minutes(5);

/** All metrics by name. CloudWatch accepts any name and dimension, and a misspelt one is a metric without data. */
export const metricsOf = (sources: MetricSources) => {
  const { config, machine, queue, eraseQueue, outcomeBus } = sources;
  const { startTask, dispatchStarts, receiveWebhook, publishEvents } = sources;
  const messagesIn = (its: IQueue) =>
    its.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period });
  const oldestIn = (its: IQueue) =>
    its.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period });
  /** A metric that Cosecha's own code counts. */
  const custom = (metricName: MetricName, statistic: string = Stats.SUM) =>
    new Metric({
      namespace: metricsNamespace(config.stage),
      metricName,
      dimensionsMap: { service: metricsService },
      statistic,
      period,
    });
  const ofApi =
    (dimensions: Readonly<Record<string, string>>) =>
    (metricName: ApiMetric, statistic: string = Stats.SUM) =>
      new Metric({
        namespace: 'AWS/ApiGateway',
        metricName,
        // "Monitor CloudWatch metrics for HTTP APIs": `ApiId`, `Stage`, and with detailed metrics `Method` and `Resource`.
        // https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html
        dimensionsMap: { ApiId: sources.api.api.apiId, Stage: '$default', ...dimensions },
        statistic,
        period,
      });
  return {
    custom,
    /** Of the whole API, including the webhook. */
    api: ofApi({}),
    /** Of the webhook's route alone. */
    webhook: ofApi({ Method: 'POST', Resource: webhookPath }),
    executions: (metricName: ExecutionMetric) => machine.metric(metricName, { statistic: Stats.SUM, period }),
    /** In seconds. Messages that were received three times and not deleted are not counted (the SQS guide's page on metrics). */
    oldestMessageSeconds: oldestIn(queue.queue),
    oldestSlowMessageSeconds: oldestIn(queue.slow),
    queuedMessages: messagesIn(queue.queue),
    delayedMessages: queue.queue.metricApproximateNumberOfMessagesDelayed({
      statistic: Stats.MAXIMUM,
      period,
    }),
    deadLetters: messagesIn(queue.deadLetters),
    oldestErasureSeconds: oldestIn(eraseQueue.queue),
    eraseDeadLetters: messagesIn(eraseQueue.deadLetters),
    /**
     * How often the rule for broken executions invoked its target
     * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-monitoring.html).
     */
    brokenExecutionsReported: new Metric({
      namespace: 'AWS/Events',
      metricName: 'Invocations',
      dimensionsMap: { RuleName: sources.executionBroken.ruleName },
      statistic: Stats.SUM,
      period,
    }),
    events:
      publishEvents && outcomeBus
        ? {
            deadLetters: messagesIn(outcomeBus.deadLetters),
            // In ms, of the last record of a batch, at each try (https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html).
            age: publishEvents.function.metric('IteratorAge', { statistic: Stats.MAXIMUM, period }),
            invocations: publishEvents.function.metricInvocations({ period }),
          }
        : undefined,
    startTaskErrors: startTask.function.metricErrors({ period }),
    startTaskInvocations: startTask.function.metricInvocations({ period }),
    dispatcher: {
      invocations: dispatchStarts.function.metricInvocations({ period }),
      errors: dispatchStarts.function.metricErrors({ period }),
      throttles: dispatchStarts.function.metricThrottles({ period }),
    },
    webhookThrottles: receiveWebhook.function.metricThrottles({ period }),
    webhookErrors: receiveWebhook.function.metricErrors({ period }),
  };
};

export type CosechaMetrics = ReturnType<typeof metricsOf>;

type ApiMetric = 'Count' | 'Latency' | '4xx' | '5xx';

/** "Step Functions metrics for CloudWatch", https://docs.aws.amazon.com/step-functions/latest/dg/procedure-cw-metrics.html */
type ExecutionMetric =
  | 'ExecutionsStarted'
  | 'ExecutionsSucceeded'
  | 'ExecutionsFailed'
  | 'ExecutionsTimedOut'
  | 'ExecutionsAborted'
  | 'ExecutionThrottled';
