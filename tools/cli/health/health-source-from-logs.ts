import { ResourceNotFoundException } from '@aws-sdk/client-cloudwatch-logs';
import type { Bounded, Deployment } from '../aws/deployment.ts';
import { logsClient, readFunctionLog } from '../aws/logs.ts';
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

/** Parts of the names that CloudFormation generates for the logs of the functions that report progress. */
const reporting = ['RequestExtractionLog', 'StartTaskLog', 'ReceiveWebhookLog', 'ReconcileExtractionLog'];

type Logs = ReturnType<typeof logsClient>;

/** The lines of the last two days. An emulator has few, and its logs know no queries with `stats`. */
const readLines = async (logs: Logs, groups: readonly string[], now: Date) => {
  const since = new Date(now.getTime() - 48 * 3_600_000);
  const read = await Promise.all(
    groups.map((logGroupName) =>
      readFunctionLog(logs, { logGroupName, filterPattern: '', since }, parseProgressLine).catch((error) => {
        // On the emulator, a function that never ran has none.
        if (error instanceof ResourceNotFoundException) return { items: [], complete: true };
        throw error;
      }),
    ),
  );
  return { items: read.flatMap(({ items }) => items), complete: read.every(({ complete }) => complete) };
};

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
  { client, resources, isEmulated }: Deployment,
  { now, sleep }: { readonly now: Date; readonly sleep: (milliseconds: number) => Promise<void> },
): HealthSource => {
  const logs = logsClient(client);
  const groups = resources('AWS::Logs::LogGroup').then((names) =>
    names.filter((name) => reporting.some((part) => name.includes(part))),
  );
  if (isEmulated) {
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
