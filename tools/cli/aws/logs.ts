import {
  CloudWatchLogsClient,
  type CloudWatchLogsClientConfig,
  paginateFilterLogEvents,
  ResourceNotFoundException,
} from '@aws-sdk/client-cloudwatch-logs';
import type { Bounded } from './deployment.ts';

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

type FunctionLog = {
  readonly logGroupName: string;
  /** Which lines CloudWatch returns. An emulator may return all, so the caller checks each line. */
  readonly filterPattern: string;
  readonly since: Date;
};

/** More lines than a page shows. CloudWatch returns up to 10,000 with one request. */
const maxLines = 5_000;

/** The lines of a function's log as `parse` reads them, newest first. Throws the SDK's errors. */
export const readFunctionLog = async <Line>(
  client: CloudWatchLogsClient,
  { logGroupName, filterPattern, since }: FunctionLog,
  parse: (fields: LoggedFields) => Line | undefined,
): Promise<Bounded<Line>> => {
  const lines: { readonly at: number; readonly line: Line }[] = [];
  // The newest first, so that the limit omits the oldest. CloudWatch takes this for a startTime from 2024 on.
  const query = { logGroupName, filterPattern, startTime: since.getTime(), startFromHead: false };
  for await (const { events = [] } of paginateFilterLogEvents({ client }, query)) {
    for (const { message = '', timestamp: at = 0 } of events) {
      const fields = loggedFields(message);
      const line = fields === undefined ? undefined : parse(fields);
      if (line !== undefined) lines.push({ at, line });
    }
    if (lines.length > maxLines) return { items: newestFirst(lines), complete: false };
  }
  return { items: newestFirst(lines), complete: true };
};

/** The lines of several logs on an emulator, which knows no queries of them: of one log after the other. Throws the SDK's other errors. */
export const readFunctionLogs = async <Line>(
  client: CloudWatchLogsClient,
  logGroupNames: readonly string[],
  since: Date,
  parse: (fields: LoggedFields) => Line | undefined,
): Promise<Bounded<Line>> => {
  const read = await Promise.all(
    logGroupNames.map((logGroupName) =>
      readFunctionLog(client, { logGroupName, filterPattern: '', since }, parse).catch((error: unknown) => {
        // On the emulator, a function that never ran has none.
        if (error instanceof ResourceNotFoundException) return { items: [], complete: true };
        throw error;
      }),
    ),
  );
  return { items: read.flatMap(({ items }) => items), complete: read.every(({ complete }) => complete) };
};

/** An emulator may ignore the order of the query. */
const newestFirst = <Line>(lines: readonly { readonly at: number; readonly line: Line }[]): readonly Line[] =>
  lines.toSorted((a, b) => b.at - a.at).map(({ line }) => line);

const hourMs = 3_600_000;

/**
 * Every line of a function's log with this message, oldest first, an hour after the other. FilterLogEvents has no limit in all, while
 * a query of Logs Insights returns 10,000 rows at most. A page may be empty and not the last
 * (https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html). Throws the SDK's errors.
 */
export async function* linesWithMessage(
  client: CloudWatchLogsClient,
  logGroupName: string,
  message: string,
  { from, to }: { readonly from: string; readonly to: string },
): AsyncGenerator<LoggedFields, void> {
  const end = Date.parse(to);
  const filterPattern = `{ $.message = "${message}" }`;
  for (let startTime = Date.parse(from); startTime < end; startTime += hourMs) {
    // Both ends are included.
    const endTime = Math.min(startTime + hourMs, end) - 1;
    const query = { logGroupName, filterPattern, startTime, endTime };
    for await (const { events = [] } of paginateFilterLogEvents({ client }, query)) {
      for (const { message: line = '' } of events) {
        const fields = loggedFields(line);
        // Again, as the emulator returns every line for such a pattern.
        if (fields?.message === message) yield fields;
      }
    }
  }
}
