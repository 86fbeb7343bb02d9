import { userTextOf, userTexts } from '../../../lib/downstream/user-texts.ts';
import { advices } from '../../../lib/extraction/advice.ts';
import { type Extraction, entityOrProductOf } from '../../../lib/extraction/record.ts';
import { currentAdvice, latestOf } from '../aws/find-extractions.ts';
import { bounded } from '../explain/bounded-text.ts';
import { failurePhrases } from '../terminal/extraction-failures.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import { callerName, describeDue } from '../terminal/operator-view.ts';

/** What a terminal shows without a horizontal scroll. */
const columns = 100;

/** Why it ended so, or waits, in codes: of each action that failed, and of the extraction. */
const whyOf = (record: Extraction): string => {
  const codes = new Set([record.reason ?? record.collectionError, record.lastProblem]);
  const own = [...codes].filter((code) => code !== undefined).join(': ');
  return [...failurePhrases(record), own].filter((text) => text !== '').join('; ');
};

type NextOf = (record: Extraction) => string;

/** What comes next of an open extraction, or when it ended. `startAt`: when one that waits in line will be started. */
export const describeNext = (
  record: Extraction,
  of: {
    readonly now: Date;
    readonly sweepEveryMinutes: number;
    readonly startAt?: (record: Extraction) => string | undefined;
  },
): string => {
  const { dueAt, settledAt } = record;
  const starts = of.startAt?.(record);
  if (starts !== undefined) return `in line, starts in ${formatSeconds(-secondsSince(starts, of.now))}`;
  if (dueAt !== undefined) return describeDue(dueAt, of.now, of.sweepEveryMinutes);
  return settledAt === undefined ? 'closed' : `ended ${settledAt.slice(0, 19)}Z`;
};

const aligned = (rows: readonly (readonly string[])[]): readonly string[] => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};

/** The heading, and a line for each. */
export const openRows = (records: readonly Extraction[], now: Date, nextOf: NextOf): readonly string[] =>
  aligned([
    ['EXTRACTION', 'STATUS', 'ENTITY', 'CALLER', 'AGE', 'NEXT RECONCILE', 'REASON'],
    ...records.map((record) => [
      record.extractionId,
      record.status,
      entityOrProductOf(record),
      callerName(record.requestedBy),
      formatSeconds(secondsSince(record.requestedAt, now)),
      nextOf(record),
      whyOf(record),
    ]),
  ]);

/** The heading, and what is printed of each. It fits a terminal: what does not fit behind a row is below it. */
export const outcomeRows = (
  records: readonly Extraction[],
  nextOf: NextOf,
): readonly (string | readonly string[])[] => {
  const lines = aligned([
    ['ID', 'STATUS', 'ADVICE', 'SINCE (UTC)', 'ENTITY', 'REFERENCE'],
    ...records.map((record) => [
      record.extractionId.slice(0, 8),
      record.status,
      currentAdvice(record) ?? '',
      `${latestOf(record).slice(5, 16).replace('T', ' ')}Z`,
      bounded(entityOrProductOf(record), 19),
      bounded(record.reference ?? '', 20),
    ]),
  ]);
  return lines.map((line, index) => {
    const record = records[index - 1];
    const text =
      record === undefined ? 'WHY' : record.settledAt === undefined ? nextOf(record) : whyOf(record);
    const why = bounded(text, columns - 10);
    if (why === '') return line;
    return line.length + 2 + why.length <= columns ? `${line}  ${why}` : [line, `${' '.repeat(10)}${why}`];
  });
};

/** What to do about them, and the text for their users, the most frequent first. */
export const adviceSummary = (records: readonly Extraction[]): readonly string[] => {
  const byAdvice = Map.groupBy(records, (record) => currentAdvice(record) ?? 'none');
  return [...byAdvice]
    .filter(([advice]) => advice !== 'none')
    .toSorted(([, one], [, other]) => other.length - one.length)
    .flatMap(([advice, some]) => [
      `${some.length.toLocaleString('en')} ${advice}`,
      `  ${advices[advice]}`,
      ...Object.entries(userTexts.advice[advice]).map(
        ([language, text]) => `  to the user, ${language}: ${text}`,
      ),
    ]);
};

/** The text for the user of an extraction. */
export const textFor = (record: Extraction) =>
  userTextOf({ advice: currentAdvice(record), actionResults: record.actionResults });

/** A field of RFC 4180. A text that a spreadsheet would take for a formula begins with an apostrophe (OWASP, "CSV Injection"). */
const csvField = (value: string): string => {
  const inert = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
};

/** The columns of --csv, in their order. */
const csvColumns: Readonly<Record<string, (record: Extraction) => string | undefined>> = {
  extractionId: ({ extractionId }) => extractionId,
  reference: ({ reference }) => reference,
  batch: ({ batch }) => batch,
  requestedBy: ({ requestedBy }) => requestedBy,
  entity: (record) => (record.method === 'credentials' ? record.entity : undefined),
  product: (record) => (record.method === 'consent' ? record.product : undefined),
  consentId: (record) => (record.method === 'consent' ? record.consentId : undefined),
  status: ({ status }) => status,
  why: whyOf,
  advice: currentAdvice,
  requestedAt: ({ requestedAt }) => requestedAt,
  settledAt: ({ settledAt }) => settledAt,
  en: (record) => textFor(record)?.en,
  'es-CL': (record) => textFor(record)?.['es-CL'],
};

/** The heading, and a line for each record. */
export const csvLines = (records: readonly Extraction[]): readonly string[] => [
  Object.keys(csvColumns).join(','),
  ...records.map((record) =>
    Object.values(csvColumns)
      .map((column) => csvField(column(record) ?? ''))
      .join(','),
  ),
];
