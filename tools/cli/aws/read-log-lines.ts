import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import type { Bounded } from './deployment.ts';
import { type LoggedFields, logPages } from './logs.ts';

/** One line of a function's log: the fields that the functions write, and no others. */
export type LogLine = {
  readonly at: string;
  /** The function, such as `start-task`. */
  readonly service: string;
  readonly level: string;
  readonly message: string;
  /** Its other fields. `explain` shows only those that it knows. */
  readonly fields: Readonly<Record<string, unknown>>;
};

export type Period = { readonly from: string; readonly to: string };

/**
 * Of each log group. A page ends after 10,000 lines, 1 MB or a part of the period, whichever is first
 * (https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html).
 */
const maxPages = 30;

/** The lines of the functions' own logger. Lines of the Lambda runtime and of metrics have no such fields. */
const toLine = (logged: LoggedFields, timestamp: number): LogLine | undefined => {
  const { service, level, message: text, timestamp: at, ...fields } = logged;
  if (typeof service !== 'string' || typeof level !== 'string' || typeof text !== 'string') return undefined;
  const time = typeof at === 'string' ? new Date(at) : new Date(timestamp);
  return { at: time.toISOString(), service, level, message: text, fields };
};

const recordedId = (recorded: unknown): unknown =>
  typeof recorded === 'object' && recorded !== null
    ? (recorded as { readonly extractionId?: unknown }).extractionId
    : undefined;

const isAbout = ({ fields }: LogLine, ids: readonly string[]): boolean =>
  [fields.extractionId, fields.taskId, recordedId(fields.recorded)].some(
    (id) => typeof id === 'string' && ids.includes(id),
  );

/** Values of ids have no quotation marks and no backslashes, as only letters, digits and `-_.:` pass `quotable`. */
const quotable = /^[\w.:-]+$/;

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html */
const patternOf = (ids: readonly string[]): string => {
  const fields = ['$.extractionId', '$.taskId', '$.recorded.extractionId'];
  const terms = ids
    .filter((id) => quotable.test(id))
    .flatMap((id) => fields.map((field) => `(${field} = "${id}")`));
  return `{ ${terms.join(' || ')} }`;
};

export const readLogLines = async (
  client: CloudWatchLogsClient,
  logGroupNames: readonly string[],
  ids: readonly string[],
  { from, to }: Period,
): Promise<Bounded<LogLine>> => {
  const filterPattern = patternOf(ids);
  let complete = true;
  const linesOf = async (logGroupName: string): Promise<LogLine[]> => {
    const period = { startTime: Date.parse(from), endTime: Date.parse(to) };
    const lines: LogLine[] = [];
    let pages = 0;
    const query = { logGroupName, filterPattern, ...period };
    for await (const { events, isLast } of logPages(client, query, true)) {
      lines.push(...events.flatMap(({ at, fields = {} }) => toLine(fields, at) ?? []));
      pages += 1;
      if (pages < maxPages || isLast) continue;
      complete = false;
      break;
    }
    // Again, as the emulator returns every line for such a pattern.
    return lines.filter((line) => isAbout(line, ids));
  };
  const items = (await Promise.all(logGroupNames.map(linesOf))).flat();
  return { items, complete };
};
