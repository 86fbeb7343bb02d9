import { outcomeText } from '../../../lib/extraction/advice.ts';
import { logMessages } from '../../../lib/observability/log-messages.ts';
import type { LoggedFields } from '../aws/logs.ts';
import type { Period } from '../aws/read-log-lines.ts';
import { percentile } from '../aws/read-metric.ts';

/** What a log line reports of an extraction (lib/extraction/write-progress.ts). `corrected` takes back an outcome. */
type Step = 'requested' | 'started' | 'ended' | 'corrected' | 'codes';

const steps: ReadonlyMap<unknown, Step> = new Map([
  [logMessages.requested, 'requested'],
  [logMessages.started, 'started'],
  [logMessages.ended, 'ended'],
  [logMessages.corrected, 'corrected'],
  [logMessages.errorCodesCollected, 'codes'],
]);

/**
 * How many extractions of one entity or product a period has the same of. Both sources of `health` fill it. Lines may be
 * repeated, so extractions are counted, at the time of their request or outcome, and never lines.
 */
export type ProgressRow = {
  /** An entity, or the product of extractions by consent. */
  readonly subject: string;
  readonly step: Step;
  /** `ended` and `corrected`: the status, followed by why (`outcomeText`). `codes`: the error codes. */
  readonly what: string;
  readonly count: number;
  /** The time of the first, in ISO 8601. */
  readonly first?: string;
  /** Of a report by hour: its beginning, in ISO 8601. */
  readonly hour?: string;
  /** Seconds since the request. Only of `started` and `ended`. */
  readonly p50?: number;
  readonly p95?: number;
};

/**
 * A row for each step, entity and outcome of a period. Each field of `by` is in every line: what Logs Insights does with a missing
 * one is not documented. It returns 10,000 rows at most, more than all entities have outcomes.
 *
 * `count_distinct`, `min` and `pct` are listed under "stats". `count_distinct` approximates where a field has very many values:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax-Stats.html
 * `toMillis`, `fromMillis`, `datefloor`, `ispresent` and `coalesce` are datetime and general functions:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax-operations-functions.html
 */
export const progressQuery = ({ from, to }: Period, byHour = false): string =>
  [
    `filter message in [${[...steps.keys()].map((message) => `"${message}"`).join(', ')}]`,
    'filter ispresent(entity) or ispresent(product)',
    'fields toMillis(@timestamp) as logged',
    'fields coalesce(settledMs, requestedMs, logged) as at, coalesce(entity, product) as subject, coalesce(status, service) as ending, coalesce(cause, lastProblem, reason, status, service) as detail',
    `filter at >= ${Date.parse(from)} and at < ${Date.parse(to)}`,
    ...(byHour ? ['fields fromMillis(at) as time', 'fields datefloor(time, 1h) as hour'] : []),
    `stats count_distinct(extractionId) as extractions, min(at) as first, pct(seconds, 50) as p50, pct(seconds, 95) as p95 by ${byHour ? 'hour, ' : ''}message, subject, ending, detail`,
  ].join(' | ');

const whatOf = (step: Step, ending: string, detail: string): string => {
  if (step === 'codes') return detail;
  if (step !== 'ended' && step !== 'corrected') return '';
  return outcomeText(ending === detail ? { status: ending } : { status: ending, reason: detail });
};

const seconds = (text: string | undefined): number | undefined =>
  text === undefined || text === '' || Number.isNaN(Number(text)) ? undefined : Number(text);

/** A row of the query's result. Undefined for one of another form than the query asks for. */
export const parseQueryRow = (row: Readonly<Record<string, string>>): ProgressRow | undefined => {
  const { message, subject = '', ending = '', detail = '', extractions, first, hour } = row;
  const step = steps.get(message);
  const [p50, p95] = [seconds(row.p50), seconds(row.p95)];
  if (step === undefined || subject === '') return undefined;
  const times = p50 === undefined || p95 === undefined ? {} : { p50, p95 };
  // `2026-11-22 03:00:00.000`, in UTC.
  const begin = hour === undefined ? {} : { hour: `${hour.slice(0, 10)}T${hour.slice(11, 13)}:00:00.000Z` };
  const since = Number(first) > 0 ? { first: new Date(Number(first)).toISOString() } : {};
  const what = whatOf(step, ending, detail);
  return { subject, step, what, count: Number(extractions), ...since, ...begin, ...times };
};

export type ProgressLine = Pick<ProgressRow, 'subject' | 'step' | 'what'> & {
  readonly extractionId: string;
  /** When it was requested or its outcome was recorded or, of any other line, when it was logged. */
  readonly at: string;
  readonly seconds?: number;
};

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A line of the log as the query sees it, or undefined for one that it leaves out. */
export const parseProgressLine = (fields: LoggedFields): ProgressLine | undefined => {
  const step = steps.get(fields.message);
  const subject = text(fields.entity) ?? text(fields.product);
  const time = fields.settledMs ?? fields.requestedMs;
  const at = typeof time === 'number' ? new Date(time).toISOString() : text(fields.timestamp);
  const extractionId = text(fields.extractionId);
  if (step === undefined || subject === undefined || at === undefined || extractionId === undefined)
    return undefined;
  const ending = text(fields.status) ?? '';
  const detail = [fields.cause, fields.lastProblem, fields.reason].find((one) => typeof one === 'string');
  const what = whatOf(step, ending, text(detail) ?? ending);
  const line = { extractionId, at, subject, step, what };
  return typeof fields.seconds === 'number' ? { ...line, seconds: fields.seconds } : line;
};

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
    // A line that repeats an outcome has no seconds.
    const timed = group.flatMap(({ extractionId, seconds: took }) =>
      took === undefined ? [] : [[extractionId, took] as const],
    );
    const times = [...new Map(timed).values()].toSorted((one, other) => one - other);
    return {
      subject,
      step,
      what,
      count: new Set(group.map(({ extractionId }) => extractionId)).size,
      first: group.map(({ at }) => at).toSorted()[0] ?? '',
      ...(hour !== undefined && { hour }),
      ...(times.length > 0 && { p50: percentile(times, 0.5), p95: percentile(times, 0.95) }),
    };
  });
