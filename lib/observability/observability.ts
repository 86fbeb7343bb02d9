import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { MiddlewareObj } from '@middy/core';
import { describeError } from './describe-error.ts';
import { type Count, loggedMetrics, type MetricName, metricsService } from './metric-names.ts';

const logger = new Logger();
const metrics = new Metrics({ serviceName: metricsService, defaultDimensions: {} });

/** The structured log. Never pass it an event, a body or an Error. Use `logFailure` for errors. */
export const log = logger;

type About = { readonly extractionId?: string; readonly taskId?: string };

/** Adds the extraction and the task to every further log line of this invocation. */
export const logAbout = (keys: About): void => {
  logger.appendKeys(keys);
};

/** Logs an error without its message (see `describeError`). */
export const logFailure = (message: string, error: unknown): void => {
  logger.error(message, { failure: describeError(error) });
};

/** Adds to a CloudWatch metric. Metrics are published at the end of the invocation or by `publishNow` (EMF). */
export const count: Count<MetricName> = (name, value = 1) => {
  metrics.addMetric(name, name.endsWith('Seconds') ? MetricUnit.Seconds : MetricUnit.Count, value);
};

/** Returns a `count` for one extraction or task. It also logs the metrics of `loggedMetrics`. */
export const countAbout =
  (keys: About) =>
  (name: MetricName): void => {
    count(name);
    if (loggedMetrics.has(name)) log.warn('Metric counted.', { metric: name, ...keys });
  };

/** Publishes the metrics so far, so that they survive if the process is killed. */
export const publishNow = (): void => {
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
};

/** Instead of Powertools' `logMetrics`, which logs a warning for each invocation without a metric. */
const publishMetrics = (): MiddlewareObj => ({ after: publishNow, onError: publishNow });

/**
 * The middlewares of every function. `logEvent` is off here because an event can hold credentials, and an
 * environment variable could turn it on.
 */
export const observability = () => [
  injectLambdaContext(logger, { resetKeys: true, logEvent: false }),
  publishMetrics(),
];
