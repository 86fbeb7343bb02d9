import { validate as isUuid } from 'uuid';
import { advices } from '../../../../lib/extraction/advice.ts';
import { type Advice, type Extraction, entityOrProductOf } from '../../../../lib/extraction/record.ts';
import { isSameName } from '../../../../lib/extraction/spellings.ts';
import { allStatuses, hasAdvice, latestOf } from '../../aws/find-extractions.ts';
import { causeOf } from '../../terminal/extraction-failures.ts';
import { isShortOf, parseShortId } from '../../terminal/short-id.ts';

/** The choice that a query names, or the default for anything else. */
const choiceIn = <Choice extends string>(
  text: string | null,
  choices: readonly Choice[],
  otherwise: Choice,
): Choice => choices.find((one) => one === text) ?? otherwise;

const hoursOf = { '1h': 1, '6h': 6, '24h': 24 } as const;

/** How far back a page goes. */
export type Since = keyof typeof hoursOf;
export const sinceChoices = Object.keys(hoursOf) as readonly Since[];

export const sinceIn = (query: URLSearchParams): Since => choiceIn(query.get('since'), sinceChoices, '1h');

export const startOf = (since: Since, now: Date): Date =>
  new Date(now.getTime() - hoursOf[since] * 3_600_000);

const texts = { '1h': 'the last hour', '6h': 'the last 6 hours', '24h': 'the last day' } as const;

/** After “in”, as every page has it. */
export const hoursText = (since: Since): string => texts[since];

export const isOpen = ({ dueShard }: Extraction): boolean => dueShard !== undefined;

/** What a record does not say of itself. */
export type Standing = {
  readonly isLate: (record: Extraction) => boolean;
  readonly isInLine: (record: Extraction) => boolean;
};

type InGroup = (record: Extraction, standing: Standing) => boolean;

/** What a filter of the status may be besides one status. */
const groups = {
  any: () => true,
  open: isOpen,
  overdue: (record, { isLate }) => isLate(record),
  line: (record, { isInLine }) => isInLine(record),
  ended: (record) => !isOpen(record),
  failed: (record) => causeOf(record) !== undefined,
} as const satisfies Readonly<Record<string, InGroup>>;

const groupNames = Object.keys(groups) as readonly (keyof typeof groups)[];

export const statusChoices = [...groupNames, ...allStatuses] as const;

export const methodChoices = ['any', 'credentials', 'consent'] as const;

/** `any`: whether or not it has one. `todo`: that leaves something to do. */
export const adviceChoices = ['any', 'todo', ...(Object.keys(advices) as readonly Advice[])] as const;

export type Filter = {
  readonly status: (typeof statusChoices)[number];
  readonly method: (typeof methodChoices)[number];
  readonly advice: (typeof adviceChoices)[number];
  readonly subject: string;
  /** The whole cause of a failure, or one of its codes: what `causeOf` returns, or what `cosecha health` counts. */
  readonly cause: string;
  /** Part of the ARN of the caller. */
  readonly caller: string;
  /** Part of a reference, batch, caller, extractionId or taskId; or an id as the list shortens it. */
  readonly name: string;
  /** The whole name of a batch. */
  readonly batch: string;
  /** The hour or day in which they ended, or were requested if they are open: `2026-03-01T12`, in UTC. */
  readonly hour: string;
  /** How far back the list goes for what has ended. */
  readonly since: Since;
};

/** A reference has 256 characters at most. */
const typed = (text: string | null): string => (text ?? '').trim().slice(0, 256);

/** Anything unknown in a query is left at its default. */
export const parseFilter = (query: URLSearchParams): Filter => ({
  status: choiceIn(query.get('status'), statusChoices, 'any'),
  method: choiceIn(query.get('method'), methodChoices, 'any'),
  advice: choiceIn(query.get('advice'), adviceChoices, 'any'),
  subject: typed(query.get('subject')),
  cause: typed(query.get('cause')),
  caller: typed(query.get('caller')),
  name: typed(query.get('name')),
  batch: typed(query.get('batch')),
  hour: /^\d{4}-\d\d-\d\d(T([01]\d|2[0-3]))?$/.exec(query.get('hour') ?? '')?.[0] ?? '',
  since: sinceIn(query),
});

/** The beginning of what a filter shows of those that ended. */
export const beginOf = ({ since, hour }: Filter, now: Date): Date => {
  const begin = new Date(hour.includes('T') ? `${hour}:00:00.000Z` : hour);
  return Number.isNaN(begin.getTime()) ? startOf(since, now) : begin;
};

/** Whether it leaves anything out. The time alone does not, as every list has one. */
export const isFiltered = ({ status, method, advice, since: _since, ...texts }: Filter): boolean =>
  [status, method, advice].some((choice) => choice !== 'any') ||
  Object.values(texts).some((text) => text !== '');

/** The whole id that the filter names, of an extraction that need not be recent. */
export const idIn = ({ name }: Filter): string | undefined => (isUuid(name) ? name.toLowerCase() : undefined);

/** What the filter names, if that can be the whole id of a task: the provider's have up to 100 characters. */
export const taskIdIn = ({ name }: Filter): string | undefined =>
  /^\S{8,100}$/.test(name) && parseShortId(name)?.last === undefined ? name : undefined;

const includes = (text: string | undefined, part: string): boolean =>
  text?.normalize().toLowerCase().includes(part.normalize().toLowerCase()) ?? false;

const hasStatus = (record: Extraction, status: Filter['status'], standing: Standing): boolean => {
  const inGroup: InGroup | undefined = Object.hasOwn(groups, status)
    ? groups[status as keyof typeof groups]
    : undefined;
  return inGroup?.(record, standing) ?? record.status === status;
};

const hasCause = (record: Extraction, cause: string): boolean => {
  const own = causeOf(record);
  return own === cause || own?.split(' and ').includes(cause) === true;
};

const isShortened = (name: string, { extractionId }: Extraction): boolean => {
  const short = parseShortId(name);
  return short !== undefined && isShortOf(short, extractionId);
};

export const matches = (record: Extraction, filter: Filter, standing: Standing): boolean =>
  hasStatus(record, filter.status, standing) &&
  (filter.method === 'any' || record.method === filter.method) &&
  (filter.advice === 'any' || hasAdvice(record, [filter.advice])) &&
  includes(entityOrProductOf(record), filter.subject) &&
  (filter.cause === '' || hasCause(record, filter.cause)) &&
  includes(record.requestedBy, filter.caller) &&
  (filter.batch === '' || isSameName(record.batch, filter.batch)) &&
  latestOf(record).startsWith(filter.hour) &&
  (filter.name === '' ||
    isShortened(filter.name, record) ||
    [record.reference, record.batch, record.requestedBy, record.extractionId, record.taskId].some((text) =>
      includes(text, filter.name),
    ));

const rank = (record: Extraction, { isLate }: Standing): number => {
  if (isLate(record)) return 0;
  return isOpen(record) ? 1 : 2;
};

/** Each extraction once, by its last record. */
export const distinct = (records: readonly Extraction[]): readonly Extraction[] => [
  ...new Map(records.map((record) => [record.extractionId, record])).values(),
];

/** The matching records: the overdue ones, the most overdue first, then the newest open ones, then the last that ended. */
export const selectExtractions = (
  records: readonly Extraction[],
  filter: Filter,
  standing: Standing,
): readonly Extraction[] =>
  records
    .filter((record) => matches(record, filter, standing))
    .toSorted((one, other) => {
      const byRank = rank(one, standing) - rank(other, standing);
      if (byRank !== 0) return byRank;
      const [first, second] = standing.isLate(one)
        ? [String(one.dueAt), String(other.dueAt)]
        : [latestOf(other), latestOf(one)];
      return first === second ? 0 : first < second ? -1 : 1;
    });

/**
 * What ended, and how much of it failed, by bank or product. The most failures first. `atBank`: the provider ran the task, and
 * could not get the data. The others failed before.
 */
export const countBySubject = (records: readonly Extraction[]) =>
  [...Map.groupBy(records, entityOrProductOf)]
    .map(([subject, all]) => {
      const failed = all.filter((record) => causeOf(record) !== undefined);
      const since = failed.map(latestOf).toSorted()[0] ?? '';
      const atBank = failed.filter(({ status }) => status === 'FAILED' || status === 'PARTIAL').length;
      return { subject, ended: all.length, failed: failed.length, atBank, since };
    })
    .toSorted((one, other) => other.failed - one.failed);

/** What ended otherwise than `COMPLETED`, for one cause at one entity or of one product. `since`: when the first of them ended. */
export const groupFailures = (records: readonly Extraction[]) => {
  const failures = records.flatMap((record) => {
    const { method } = record;
    const [cause, subject, since] = [causeOf(record), entityOrProductOf(record), latestOf(record)];
    return cause === undefined ? [] : [{ cause, method, subject, since }];
  });
  const keyOf = ({ since: _since, ...shared }: (typeof failures)[number]) => JSON.stringify(shared);
  return [...Map.groupBy(failures, keyOf).values()]
    .flatMap((some) => {
      const [first] = some.toSorted((one, other) => one.since.localeCompare(other.since));
      return first === undefined ? [] : [{ ...first, count: some.length }];
    })
    .toSorted((one, other) => other.count - one.count);
};
