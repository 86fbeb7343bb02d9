import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { MiddlewareObj } from '@middy/core';
import { defined } from '../defined.ts';
import { NotConfigured } from '../not-configured.ts';
import { describeError, isKeyFailure } from './describe-error.ts';
import { loggedMetrics, metricsService } from './metric-names.ts';
import type { About, Telemetry } from './telemetry.ts';

/**
 * A line of the log, without half of Powertools' own format. That also has the name, ARN and memory of the function, a sampling rate and an
 * X-Ray id. The log group and Lambda's REPORT line have the first three, and the stack uses no sampling and no X-Ray. CloudWatch bills
 * lines by the byte. https://docs.aws.amazon.com/powertools/typescript/latest/features/logger/#custom-log-formatter
 */
class BriefFormatter extends LogFormatter {
  override formatAttributes(
    { logLevel, message, timestamp, serviceName, lambdaContext }: UnformattedAttributes,
    additional: LogAttributes,
  ): LogItem {
    const attributes = {
      level: logLevel,
      message,
      timestamp: this.formatTimestamp(timestamp),
      service: serviceName,
      cold_start: lambdaContext?.coldStart,
      function_request_id: lambdaContext?.awsRequestId,
    };
    return new LogItem({ attributes }).addAttributes(additional);
  }
}

const logger = new Logger({ logFormatter: new BriefFormatter() });
const metrics = new Metrics({ serviceName: metricsService, defaultDimensions: {} });

/** Only the ids, because `about` may be a whole record. An absent id must not hide one of `about`. */
const idsOf = ({ extractionId, taskId }: About): About => defined({ extractionId, taskId });

/**
 * The log and the CloudWatch metrics. Metrics are published at the end of the invocation or by `publishNow` (EMF). An error is
 * logged without its message (see `describeError`). Never pass it an event or a body.
 */
export const telemetry: Telemetry = {
  about: (ids) => logger.appendKeys(ids),
  log: (message, facts = {}, level = 'info') => logger[level](message, facts),
  failure: (what, error, about = {}) => {
    logger.error(what, { ...idsOf(about), failure: describeError(error) });
    if (isKeyFailure(error)) telemetry.count('KeyFailed');
    if (error instanceof NotConfigured) reportNotConfigured(error);
  },
  count: (metric, { value = 1, ...about } = {}) => {
    metrics.addMetric(metric, /Seconds/.test(metric) ? MetricUnit.Seconds : MetricUnit.Count, value);
    if (value > 0 && loggedMetrics.has(metric)) logger.warn('Metric counted.', { metric, ...idsOf(about) });
  },
};

/** Logs what to configure, and counts a missing secret for its alarm. */
export const reportNotConfigured = ({ what, message }: NotConfigured): void => {
  if (what === 'secret') telemetry.count('SecretNotFilled');
  telemetry.log(message, {}, 'error');
};

/** Publishes the metrics so far, so that they survive if the process is killed. */
export const publishNow = (): void => {
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
};

/** Used in place of Powertools' `logMetrics`, which logs a warning for each invocation without a metric. */
const publishMetrics = (): MiddlewareObj => ({ after: publishNow, onError: publishNow });

/**
 * The middlewares of every function. `logEvent` is off here because an event can hold credentials, and an
 * environment variable could turn it on.
 */
export const observability = () => [
  injectLambdaContext(logger, { resetKeys: true, logEvent: false }),
  publishMetrics(),
];

/**
 * Options of middy for a function that only Lambda may end, at its timeout. By default middy answers with an error 5 ms earlier. The
 * process is then frozen, and continues when Lambda reuses it, perhaps hours later: "Background processes or callbacks … resume if Lambda
 * reuses the execution environment" (https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html). A start call or stored
 * results would then come after the outcome, or after an erasure.
 */
export const endAtTimeout = { timeoutEarlyInMillis: 0 } as const;
