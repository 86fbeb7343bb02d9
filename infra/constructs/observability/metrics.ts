import { Duration } from 'aws-cdk-lib';
import type { IHttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IRule } from 'aws-cdk-lib/aws-events';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import {
  type MetricName,
  metricsNamespace,
  metricsService,
} from '../../../lib/observability/metric-names.ts';
import type { Config } from '../../settings/config.ts';
import { webhookPath } from '../extraction-api.ts';

/** The resources whose metrics the alarms and the dashboard use. */
type MetricSources = {
  readonly config: Config;
  readonly api: Pick<IHttpApi, 'apiId'>;
  readonly machine: IStateMachine;
  readonly reconcileQueue: IQueue;
  readonly slowQueue: IQueue;
  readonly deadLetters: IQueue;
  readonly eraseQueue: IQueue;
  readonly eraseDeadLetters: IQueue;
  readonly executionBroken: IRule;
  /** Both undefined without the bus. */
  readonly publisher: IFunction | undefined;
  readonly eventDeadLetters: IQueue | undefined;
  readonly startTask: IFunction;
  readonly dispatchStarts: IFunction;
  readonly receiveWebhook: IFunction;
};

/** All metrics by name. CloudWatch accepts any name and dimension, and a misspelt one is a metric without data. */
export const metricsOf = (sources: MetricSources) => {
  const { config, api, machine, deadLetters, startTask, dispatchStarts, receiveWebhook } = sources;
  const { reconcileQueue, slowQueue, publisher, eventDeadLetters } = sources;
  const period = Duration.minutes(5);
  const messagesIn = (queue: IQueue) =>
    queue.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period });
  const oldestIn = (queue: IQueue) =>
    queue.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period });
  const ofApi =
    (dimensions: Readonly<Record<string, string>>) => (metricName: ApiMetric, statistic: string) =>
      new Metric({
        namespace: 'AWS/ApiGateway',
        metricName,
        // "Monitor CloudWatch metrics for HTTP APIs": `ApiId`, `Stage`, and with detailed metrics `Method` and `Resource`.
        // https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html
        dimensionsMap: { ApiId: api.apiId, Stage: '$default', ...dimensions },
        statistic,
        period,
      });
  return {
    /** A metric that Cosecha's own code counts. */
    custom: (metricName: MetricName, statistic: string = Stats.SUM) =>
      new Metric({
        namespace: metricsNamespace(config.stage),
        metricName,
        dimensionsMap: { service: metricsService },
        statistic,
        period,
      }),
    /** Of the whole API, including the webhook. */
    api: ofApi({}),
    /** Of the webhook's route alone. */
    webhook: ofApi({ Method: 'POST', Resource: webhookPath }),
    executions: (metricName: ExecutionMetric) => machine.metric(metricName, { statistic: Stats.SUM, period }),
    /** In seconds. Messages that were received three times and not deleted are not counted (the SQS guide's page on metrics). */
    oldestMessageSeconds: oldestIn(reconcileQueue),
    oldestSlowMessageSeconds: oldestIn(slowQueue),
    queuedMessages: messagesIn(reconcileQueue),
    delayedMessages: reconcileQueue.metricApproximateNumberOfMessagesDelayed({
      statistic: Stats.MAXIMUM,
      period,
    }),
    deadLetters: messagesIn(deadLetters),
    oldestErasureSeconds: oldestIn(sources.eraseQueue),
    eraseDeadLetters: messagesIn(sources.eraseDeadLetters),
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
      publisher && eventDeadLetters
        ? {
            deadLetters: messagesIn(eventDeadLetters),
            // In ms, of the last record of a batch, at each try (https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html).
            age: publisher.metric('IteratorAge', { statistic: Stats.MAXIMUM, period }),
            invocations: publisher.metricInvocations({ period }),
          }
        : undefined,
    startTaskErrors: startTask.metricErrors({ period }),
    startTaskInvocations: startTask.metricInvocations({ period }),
    dispatcher: {
      invocations: dispatchStarts.metricInvocations({ period }),
      errors: dispatchStarts.metricErrors({ period }),
      throttles: dispatchStarts.metricThrottles({ period }),
    },
    webhookThrottles: receiveWebhook.metricThrottles({ period }),
    webhookErrors: receiveWebhook.metricErrors({ period }),
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
