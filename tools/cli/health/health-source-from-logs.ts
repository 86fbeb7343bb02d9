import type { Bounded, Deployment } from '../aws/deployment.ts';
import type { LogName } from '../aws/log-names.ts';
import { logGroupsOf, logsClient, readFunctionLogs } from '../aws/logs.ts';
import type { Period } from '../aws/read-log-lines.ts';
import { runLogsQuery } from '../aws/run-logs-query.ts';
import {
  groupLines,
  type ProgressLine,
  parseProgressLine,
  parseQueryRow,
  progressQuery,
} from './progress-rows.ts';
import type { HealthSource } from './read-health.ts';

/** The functions that report progress. */
const reporting: readonly LogName[] = [
  'request-extraction',
  'start-task',
  'receive-webhook',
  'reconcile-extraction',
];

/** The lines of the last two days. An emulator has few, and its logs know no queries with `stats`. */
const readLines = (logs: ReturnType<typeof logsClient>, groups: readonly string[], now: Date) =>
  readFunctionLogs(logs, groups, new Date(now.getTime() - 48 * 3_600_000), parseProgressLine);

const hourOf = ({ at }: ProgressLine): string => `${at.slice(0, 13)}:00:00.000Z`;

const rowsWithin = ({ items, complete }: Bounded<ProgressLine>, { from, to }: Period, byHour: boolean) => ({
  items: groupLines(
    items.filter(({ at }) => at >= from && at < to),
    byHour ? hourOf : undefined,
  ),
  complete,
});

/**
 * The logs of a deployment for one report: by Logs Insights, whose four queries read the lines of 75 hours in all, or on an
 * emulator line by line.
 */
export const healthSource = (
  deployment: Deployment,
  { now, sleep }: { readonly now: Date; readonly sleep: (milliseconds: number) => Promise<void> },
): HealthSource => {
  const logs = logsClient(deployment.client);
  const groups = logGroupsOf(reporting, deployment);
  if (deployment.isEmulated) {
    const lines = groups.then((names) => readLines(logs, names, now));
    return async (period, { byHour = false } = {}) => rowsWithin(await lines, period, byHour);
  }
  return async (period, { byHour = false } = {}) => {
    // What is repeated or collected later is of the period of its outcome.
    const read = { logGroupNames: await groups, from: period.from, to: now.toISOString() };
    const query = { ...read, query: progressQuery(period, byHour) };
    const { items, complete } = await runLogsQuery(logs, query, sleep);
    return { items: items.flatMap((row) => parseQueryRow(row) ?? []), complete };
  };
};
