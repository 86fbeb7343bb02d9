import { outcomeText } from '../../../lib/extraction/judge-outcome.ts';
import type { LoggedFields } from '../aws/logs.ts';

/** What a log line reports of an extraction (lib/extraction/progress.ts). */
type Step = 'requested' | 'started' | 'ended' | 'codes';

const steps: ReadonlyMap<unknown, Step> = new Map([
  ['Extraction requested.', 'requested'],
  ['Extraction started.', 'started'],
  ['Extraction ended.', 'ended'],
  ['Error codes collected.', 'codes'],
]);

/** How many lines of a period report the same of one entity or product. Both sources of `health` fill it. */
export type ProgressRow = {
  /** An entity, or the product of extractions by consent. */
  readonly subject: string;
  readonly step: Step;
  /** `ended`: the status, followed by its reason. `codes`: the error codes. */
  readonly what: string;
  readonly count: number;
  /** Of a report by hour: its beginning, in ISO 8601. */
  readonly hour?: string;
  /** Seconds since the request. Only of `started` and `ended`. */
  readonly p50?: number;
  readonly p95?: number;
};

/**
 * A row for each step, entity and outcome. Each field of `by` is in every line: what Logs Insights does with a missing one is
 * not documented. It returns 10,000 rows at most, more than all entities have outcomes.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax-Stats.html
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax-operations-functions.html
 */
export const progressQuery = [
  `filter message in [${[...steps.keys()].map((message) => `"${message}"`).join(', ')}]`,
  'filter ispresent(entity) or ispresent(product)',
  'fields coalesce(entity, product) as subject, coalesce(status, service) as ending, coalesce(cause, reason, status, service) as why',
  'stats count(*) as lines, pct(seconds, 50) as p50, pct(seconds, 95) as p95 by message, subject, ending, why',
].join(' | ');

/** The same by hour. https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax-operations-functions.html#CWL_QuerySyntax-datetime */
export const hourlyQuery = progressQuery
  .replace('fields ', 'fields datefloor(@timestamp, 1h) as hour, ')
  .replace(' by message', ' by hour, message');

const whatOf = (step: Step, ending: string, why: string): string => {
  if (step === 'codes') return why;
  if (step !== 'ended') return '';
  return outcomeText(ending === why ? { status: ending } : { status: ending, reason: why });
};

const seconds = (text: string | undefined): number | undefined =>
  text === undefined || text === '' || Number.isNaN(Number(text)) ? undefined : Number(text);

/** A row of the query's result. Undefined for one that is not as the query asks for it. */
export const parseQueryRow = (row: Readonly<Record<string, string>>): ProgressRow | undefined => {
  const { message, subject = '', ending = '', why = '', lines, hour } = row;
  const step = steps.get(message);
  const [p50, p95] = [seconds(row.p50), seconds(row.p95)];
  if (step === undefined || subject === '') return undefined;
  const times = p50 === undefined || p95 === undefined ? {} : { p50, p95 };
  // `2026-11-22 03:00:00.000`, in UTC.
  const begin = hour === undefined ? {} : { hour: `${hour.slice(0, 10)}T${hour.slice(11, 13)}:00:00.000Z` };
  return { subject, step, what: whatOf(step, ending, why), count: Number(lines), ...begin, ...times };
};

/** What the query reads of one line. */
export type ProgressLine = Pick<ProgressRow, 'subject' | 'step' | 'what'> & {
  readonly at: string;
  readonly seconds?: number;
};

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A line of the log as the query sees it, or undefined for one that it leaves out. */
export const parseProgressLine = (fields: LoggedFields): ProgressLine | undefined => {
  const step = steps.get(fields.message);
  const subject = text(fields.entity) ?? text(fields.product);
  const at = text(fields.timestamp);
  if (step === undefined || subject === undefined || at === undefined) return undefined;
  const ending = text(fields.status) ?? '';
  const what = whatOf(step, ending, text(fields.cause) ?? text(fields.reason) ?? ending);
  return {
    at,
    subject,
    step,
    what,
    ...(typeof fields.seconds === 'number' && { seconds: fields.seconds }),
  };
};

/** The nearest rank: the smallest value that at least this share of the values do not exceed. 0 without values. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;

/** The rows that the query returns for these lines. Its percentiles are approximations, these are exact. */
export const groupLines = (
  lines: readonly ProgressLine[],
  hourOf: (line: ProgressLine) => string | undefined = () => undefined,
): readonly ProgressRow[] =>
  [
    ...Map.groupBy(lines, (line) =>
      JSON.stringify([line.subject, line.step, line.what, hourOf(line)]),
    ).values(),
  ].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { subject, step, what } = first;
    const hour = hourOf(first);
    const times = group.flatMap((line) => line.seconds ?? []).toSorted((one, other) => one - other);
    return {
      subject,
      step,
      what,
      count: group.length,
      ...(hour !== undefined && { hour }),
      ...(times.length > 0 && { p50: percentile(times, 0.5), p95: percentile(times, 0.95) }),
    };
  });
