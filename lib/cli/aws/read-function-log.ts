import { type CloudWatchLogsClient, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import type { Bounded } from '../explain/sources.ts';
import { type LoggedFields, loggedFields } from './logged-fields.ts';

export type FunctionLog = {
  readonly logGroupName: string;
  /** Which lines CloudWatch returns. An emulator may return all, so the caller checks each line. */
  readonly filterPattern: string;
  readonly since: Date;
};

/** More lines than a page shows. CloudWatch returns up to 10,000 with one request, the oldest first. */
const mostLines = 5_000;

/** The lines of a function's log as `parse` reads them, newest first. Throws the SDK's errors. */
export const readFunctionLog = async <Line>(
  client: CloudWatchLogsClient,
  { logGroupName, filterPattern, since }: FunctionLog,
  parse: (fields: LoggedFields) => Line | undefined,
): Promise<Bounded<Line>> => {
  const lines: Line[] = [];
  const query = { logGroupName, filterPattern, startTime: since.getTime() };
  for await (const { events = [] } of paginateFilterLogEvents({ client }, query)) {
    for (const { message = '' } of events) {
      const fields = loggedFields(message);
      const line = fields === undefined ? undefined : parse(fields);
      if (line !== undefined) lines.push(line);
    }
    if (lines.length > mostLines) return { items: lines.reverse(), complete: false };
  }
  return { items: lines.reverse(), complete: true };
};
