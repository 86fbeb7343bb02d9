import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { MiddlewareObj } from '@middy/core';
import { describeError } from './describe-error.ts';
import { loggedMetrics, type MetricName, metricsService } from './metric-names.ts';

const logger = new Logger();
const metrics = new Metrics({ serviceName: metricsService, defaultDimensions: {} });

/** The structured log. Never hand it an event, a body or an Error: `logFailure` is for those. */
export const log = logger;

type About = { readonly extractionId?: string; readonly taskId?: string };

/** Names the extraction and the task that every further line of this invocation is about. */
export const logAbout = (keys: About): void => {
  logger.appendKeys(keys);
};

/** Logs an error by what may be told of it. */
export const logFailure = (message: string, error: unknown): void => {
  logger.error(message, { failure: describeError(error) });
};

/** Adds to a CloudWatch metric (EMF, written at the end of the invocation, or by `publishNow`). */
export const count = (name: MetricName, value = 1): void => {
  metrics.addMetric(name, name.endsWith('Seconds') ? MetricUnit.Seconds : MetricUnit.Count, value);
};

/** Only the ids: `about` may be a whole record. An absent id must not hide one of `logAbout`. */
const idsOf = ({ extractionId, taskId }: About): About => ({
  ...(extractionId === undefined ? {} : { extractionId }),
  ...(taskId === undefined ? {} : { taskId }),
});

/** The domain's journal (lib/extraction/journal.ts): the log, and the CloudWatch metrics. */
export const journal = {
  about: logAbout,
  info: (message: string, facts: Readonly<Record<string, unknown>> = {}): void => logger.info(message, facts),
  failure: (what: string, error: unknown, about: About = {}): void =>
    logger.error(what, { ...idsOf(about), failure: describeError(error) }),
  count: (metric: MetricName, about: About = {}): void => {
    count(metric);
    if (loggedMetrics.has(metric)) logger.warn('Metric counted.', { metric, ...idsOf(about) });
  },
};

/** Writes what was counted so far: for what must be told should this process be killed. */
export const publishNow = (): void => {
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
};

/** Powertools' own `logMetrics` warns of every invocation that counted nothing, and most of ours do. */
const publishMetrics = (): MiddlewareObj => ({ after: publishNow, onError: publishNow });

/**
 * The middy middlewares that every function has. `logEvent` is off here because an environment variable could
 * otherwise switch it on, and an event holds credentials.
 */
export const observability = () => [
  injectLambdaContext(logger, { resetKeys: true, logEvent: false }),
  publishMetrics(),
];
