import {
  CloudWatchLogsClient,
  type CloudWatchLogsClientConfig,
  type FilterLogEventsCommandInput,
  paginateFilterLogEvents,
  ResourceNotFoundException,
} from '@aws-sdk/client-cloudwatch-logs';
import type { Bounded, Deployment } from './deployment.ts';
import { type LogName, logOf } from './log-names.ts';

/**
 * With more tries than the SDK's three. FilterLogEvents allows 5 to 25 calls a second, depending on the region
 * (https://docs.aws.amazon.com/general/latest/gr/cwl_region.html), and the logs of nine functions are read at once.
 */
export const logsClient = (client: CloudWatchLogsClientConfig): CloudWatchLogsClient =>
  new CloudWatchLogsClient({ ...client, maxAttempts: 10 });

export type LoggedFields = Readonly<Record<string, unknown>>;

/** The fields of a log line. Undefined for a line that is no JSON object, such as REPORT of the Lambda runtime. */
export const loggedFields = (message: string): LoggedFields | undefined => {
  try {
    const fields: unknown = JSON.parse(message);
    return typeof fields === 'object' && fields !== null ? (fields as LoggedFields) : undefined;
  } catch {
    return undefined;
  }
};

/** The log groups of these functions. Throws the SDK's errors. */
export const logGroupsOf = async (
  names: readonly LogName[],
  { resources }: Pick<Deployment, 'resources'>,
): Promise<readonly string[]> => {
  const groups = await resources('AWS::Logs::LogGroup');
  return groups.filter((group) => names.some((name) => group.includes(logOf[name])));
};

type LogEvent = {
  readonly at: number;
  /** Without the line break at its end. */
  readonly line: string;
  readonly fields: LoggedFields | undefined;
};

/**
 * The pages of a log. A page may be empty and not the last
 * (https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html). An emulator returns every line for a
 * filter pattern, or none, so each reader chooses the lines again. There, a function that never ran has no log, which `mayBeMissing`
 * takes for an empty one.
 */
export async function* logPages(
  client: CloudWatchLogsClient,
  query: FilterLogEventsCommandInput,
  mayBeMissing: boolean,
): AsyncGenerator<{ readonly events: readonly LogEvent[]; readonly isLast: boolean }, void> {
  try {
    for await (const { events = [], nextToken } of paginateFilterLogEvents({ client }, query)) {
      const read = events.map(({ message = '', timestamp: at = 0 }) => {
        const line = message.trimEnd();
        return { at, line, fields: loggedFields(line) };
      });
      yield { events: read, isLast: nextToken === undefined };
    }
  } catch (error) {
    if (!(mayBeMissing && error instanceof ResourceNotFoundException)) throw error;
  }
}

type FunctionLog = {
  readonly logGroupName: string;
  readonly filterPattern: string;
  readonly since: Date;
  readonly mayBeMissing?: boolean;
};

/** More lines than a page shows. CloudWatch returns up to 10,000 with one request. */
const maxLines = 5_000;

/** The lines of a function's log as `parse` reads them, newest first. Throws the SDK's errors. */
export const readFunctionLog = async <Line>(
  client: CloudWatchLogsClient,
  { since, mayBeMissing = false, ...query }: FunctionLog,
  parse: (fields: LoggedFields) => Line | undefined,
): Promise<Bounded<Line>> => {
  const lines: { readonly at: number; readonly line: Line }[] = [];
  // An emulator may ignore the order of the query.
  const newestFirst = () => lines.toSorted((a, b) => b.at - a.at).map(({ line }) => line);
  // The newest first, so that the limit omits the oldest. CloudWatch takes this for a startTime from 2024 on.
  const newest = { ...query, startTime: since.getTime(), startFromHead: false };
  for await (const { events } of logPages(client, newest, mayBeMissing)) {
    for (const { at, fields } of events) {
      const line = fields === undefined ? undefined : parse(fields);
      if (line !== undefined) lines.push({ at, line });
    }
    if (lines.length > maxLines) return { items: newestFirst(), complete: false };
  }
  return { items: newestFirst(), complete: true };
};

/**
 * The lines of several logs, of one log after the other: with a pattern, or all on an emulator, which knows no queries of them. Throws the
 * SDK's errors.
 */
export const readFunctionLogs = async <Line>(
  client: CloudWatchLogsClient,
  logGroupNames: readonly string[],
  since: Date,
  parse: (fields: LoggedFields) => Line | undefined,
  filterPattern = '',
): Promise<Bounded<Line>> => {
  const read = await Promise.all(
    logGroupNames.map((logGroupName) =>
      readFunctionLog(client, { logGroupName, filterPattern, since, mayBeMissing: true }, parse),
    ),
  );
  return { items: read.flatMap(({ items }) => items), complete: read.every(({ complete }) => complete) };
};

/** What a function reports as a warning or an error. */
export const errorPattern = '{ ($.level = "ERROR") || ($.level = "WARN") }';

/** The lines of a log, oldest first, as they come. Throws the SDK's errors. */
export async function* linesOfLog(
  client: CloudWatchLogsClient,
  logGroupName: string,
  { since, filterPattern }: { readonly since: Date; readonly filterPattern: string | undefined },
): AsyncGenerator<LogEvent, void> {
  const query = { logGroupName, startTime: since.getTime(), ...(filterPattern && { filterPattern }) };
  const isWanted = ({ fields }: LogEvent): boolean =>
    filterPattern !== errorPattern || ['ERROR', 'WARN'].includes(String(fields?.level));
  for await (const { events } of logPages(client, query, true)) yield* events.filter(isWanted);
}

const hourMs = 3_600_000;

/**
 * Every line of a function's log with this message, oldest first, an hour after the other. FilterLogEvents has no limit in all, while
 * a query of Logs Insights returns 10,000 rows at most. Throws the SDK's errors.
 */
export async function* linesWithMessage(
  client: CloudWatchLogsClient,
  logGroupName: string,
  message: string,
  { from, to }: { readonly from: string; readonly to: string },
  mayBeMissing: boolean,
): AsyncGenerator<LoggedFields, void> {
  const end = Date.parse(to);
  const filterPattern = `{ $.message = "${message}" }`;
  for (let startTime = Date.parse(from); startTime < end; startTime += hourMs) {
    // Both ends are included.
    const endTime = Math.min(startTime + hourMs, end) - 1;
    const query = { logGroupName, filterPattern, startTime, endTime };
    for await (const { events } of logPages(client, query, mayBeMissing))
      yield* events.flatMap(({ fields }) => (fields?.message === message ? [fields] : []));
  }
}
