import type { MetricName } from './metric-names.ts';

/** The ids that identify what a log line is about. Other properties of the object are never logged. */
export type About = { readonly extractionId?: string; readonly taskId?: string };

/**
 * What the code reports while it works. In the functions it goes to the log and to CloudWatch metrics, and in tests and the simulation it
 * is kept in memory. It must get no secret, except inside an `error`.
 */
export interface Telemetry {
  /** Adds ids to every later log line of this invocation. */
  about(ids: About): void;
  /** Logs what was done, by default at the level `info`. `facts` contain ids, statuses and flags. */
  log(message: string, facts?: Readonly<Record<string, unknown>>, level?: 'info' | 'warn' | 'error'): void;
  /** Logs a failure that the code handles. Of `error`, only names, codes and stack frames are logged. */
  failure(what: string, error: unknown, about?: About): void;
  /** Adds `value`, or 1, to a metric. A metric that an operator investigates is also logged, with the ids. */
  count(metric: MetricName, of?: About & { readonly value?: number }): void;
}
