import type { MetricName } from '../observability/metric-names.ts';

/** The ids that identify what a log line is about. Other properties of the object are never logged. */
export type About = { readonly extractionId?: string; readonly taskId?: string };

/**
 * What the domain reports while it works. In the functions it is the log and the CloudWatch metrics; in tests and in the
 * simulation it is kept in memory. Nothing secret may be passed to it, except inside an `error`.
 */
export interface Journal {
  /** Adds ids to every later log line of this invocation. */
  about(ids: About): void;
  /** Logs that something was done. `facts` contain ids, statuses and flags. */
  info(message: string, facts?: Readonly<Record<string, unknown>>): void;
  /** Logs a failure that the domain handles. Of `error`, only names, codes and stack frames are logged. */
  failure(what: string, error: unknown, about?: About): void;
  /** Adds 1 to a metric. A metric that an operator investigates is also logged, with the ids of `about`. */
  count(metric: MetricName, about?: About): void;
}
