import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { dynamoNameIndex } from '../../../lib/aws/dynamo-name-index.ts';
import { expectedStartAt } from '../../../lib/extraction/api/expected-start.ts';
import { isOverdue } from '../../../lib/extraction/deadlines.ts';
import {
  type Extraction,
  type ExtractionStatus,
  entityOrProductOf,
  openStatuses,
  subjectFields,
} from '../../../lib/extraction/record.ts';
import { isSameName } from '../../../lib/extraction/spellings.ts';
import { idsWithName, openExtractionIds, readExtractions } from '../aws/read-extractions.ts';
import { readStartRate } from '../aws/read-rate.ts';
import { type RecentExtractionsDeps, recentExtractionsReader } from '../aws/recent-extractions-reader.ts';
import { type Breakers, breakersOf, readHolds } from '../aws/stores.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { describeHolds } from '../terminal/describe-hold.ts';
import { describeLine } from '../terminal/describe-rate.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import { callerName, describeDue } from '../terminal/operator-view.ts';
import type { Since } from '../terminal/parse-time.ts';
import type { CommandContext } from './command-context.ts';

type ListOptions = {
  readonly open?: true;
  readonly due?: true;
  readonly status?: ExtractionStatus;
  readonly since?: Since;
  readonly reference?: string;
  readonly batch?: string;
  readonly limit?: number;
};

/** What is listed, and the sentence at its end. */
type Listing = {
  readonly records: readonly Extraction[];
  /** What there is none of, such as `open`. */
  readonly which: keyof typeof nothingMatches;
  readonly remark: string;
};

const isOutcome = (status: ExtractionStatus | undefined): boolean =>
  status !== undefined && !(openStatuses as readonly string[]).includes(status);

/**
 * Finds the extractions by the cheapest index that has them: those with a reference or in a batch in the index of that name, open
 * ones in the index `due`. No index has closed ones by status, so the command searches the newest executions. An outcome can still be open,
 * while its results are collected or a correction may come.
 */
const findListed = async (
  { open, due, status, since, reference, batch }: ListOptions,
  deps: RecentExtractionsDeps,
): Promise<Listing> => {
  const { dynamo, table } = deps;
  const now = deps.now();
  const filter = { status, reference, batch, since: since?.(now).toISOString() };
  const readOpen = async () => {
    const ids = await openExtractionIds(dynamo, table, due === true ? now.toISOString() : undefined);
    return selectOpen(await readExtractions(dynamo, table, ids), filter);
  };
  if (open === true || due === true || ((reference ?? batch) === undefined && !isOutcome(status))) {
    return { records: await readOpen(), which: due === true ? 'due' : 'open', remark: eventually };
  }
  const name = reference ?? batch;
  if (name !== undefined) {
    const by = reference === undefined ? 'batch' : 'reference';
    const ids = await idsWithName(dynamoNameIndex(dynamo, table), { by, name });
    const records = selectNewest(await readExtractions(dynamo, table, ids), filter);
    return { records, which: 'known', remark: eventually };
  }
  const { items, complete } = await recentExtractionsReader(deps)(since?.(now) ?? new Date(0));
  const distinct = new Map([...items, ...(await readOpen())].map((record) => [record.extractionId, record]));
  const newest = complete
    ? 'Step Functions keeps executions for 90 days.'
    : `Of the newest ${items.length.toLocaleString('en')} extractions and all open ones. Older ones are not searched: --reference and --batch find them.`;
  return { records: selectNewest([...distinct.values()], filter), which: 'among the newest', remark: newest };
};

const eventually = 'The index is eventually consistent: the last second may be missing.';

const nothingMatches = {
  open: 'No open extraction matches.',
  due: 'No due extraction matches.',
  known: 'No extraction matches.',
  'among the newest': 'None of the newest extractions matches.',
} as const;

export const describeNone = (which: keyof typeof nothingMatches, isFiltered: boolean): string =>
  isFiltered
    ? nothingMatches[which]
    : `No extraction is ${which}. Those that ended are listed by --status, --reference or --batch, and in the console.`;

/**
 * Lists open extractions, or those that are due: those that are due for longest come first. Or extractions with a reference, of a batch or with a
 * closed status: the newest come first.
 */
export const list = async (options: ListOptions, { shell, connect }: CommandContext): Promise<number> => {
  const deployment = await connect();
  const { client, output } = deployment;
  const sweepEveryMinutes = deployment.sweepEveryMinutes();
  const dynamo = new DynamoDBClient(client);
  const now = shell.now();
  await hintHeldCalls(breakersOf(deployment), shell);
  const {
    records: found,
    which,
    remark,
  } = await findListed(options, {
    dynamo,
    stepFunctions: new SFNClient(client),
    table: output('ExtractionsTableName'),
    stateMachineArn: output('StateMachineArn'),
    now: () => now,
  });
  const records = found.slice(0, options.limit);
  if (records.length === 0) {
    const { status, since, reference, batch } = options;
    const isFiltered = [status, since, reference, batch].some((value) => value !== undefined);
    shell.hint(`${describeNone(which, isFiltered)} ${remark}`);
    return 0;
  }
  const line = records.some(({ status }) => status === 'REQUESTED')
    ? await readStartRate(deployment, now)
    : undefined;
  const waits = line === undefined ? [] : describeLine(line, now);
  if (waits.length > 0) shell.hint(waits);
  const startAt = ({ extractionId, status }: Extraction): string | undefined =>
    line === undefined || status !== 'REQUESTED' ? undefined : expectedStartAt(line, extractionId, now);
  const [heading = '', ...lines] = rows(records, now, sweepEveryMinutes, startAt);
  shell.hint(heading);
  for (const [index, record] of records.entries()) {
    const { dueAt } = record;
    shell.print(lines[index] ?? '', {
      ...listedFields(record),
      expectedStartAt: startAt(record),
      dueSeconds: Math.max(0, Math.round(secondsSince(dueAt ?? now.toISOString(), now))),
      isOverdue: isOverdue(record, now, sweepEveryMinutes),
    });
  }
  const left = found.length - records.length;
  const listed = left === 0 ? `${found.length} listed` : `${records.length} of ${found.length} listed`;
  const dueCount = found.filter(({ dueAt = '9' }) => dueAt < now.toISOString()).length;
  const overdueCount = found.filter((record) => isOverdue(record, now, sweepEveryMinutes)).length;
  shell.hint(`${listed}, ${dueCount} due, ${overdueCount} overdue. ${remark}`);
  return 0;
};

const listedFields = (record: Extraction) => {
  const { extractionId, status, reason, taskId, reference, batch, requestedBy, requestedAt, dueAt } = record;
  const { settledAt, settledBy, collectedAt, collectionError, lastProblem, advice } = record;
  return {
    extractionId,
    status,
    reason,
    ...subjectFields(record),
    ...(record.method === 'consent' ? { consentId: record.consentId } : {}),
    taskId,
    reference,
    batch,
    requestedBy,
    requestedAt,
    dueAt,
    lastProblem,
    advice,
    settledAt,
    settledBy,
    collectedAt,
    collectionError,
  };
};

/** Prints which calls to the provider are held, as that is why extractions wait. */
export const hintHeldCalls = async (breakers: Pick<Breakers, 'list'>, shell: Shell): Promise<void> => {
  const lines = describeHolds(await readHolds(breakers, shell.now()), shell.now());
  if (lines.length > 0) shell.hint(lines.map((line) => `${line}.`));
};

/** An absent field matches every record. `since` is compared with the time of the request. */
type ListFilter = { readonly [Field in 'status' | 'since' | 'reference' | 'batch']?: string | undefined };

/** The records that are open and match, by the time at which they are due. The index may still have closed ones. */
export const selectOpen = (records: readonly Extraction[], filter: ListFilter): readonly Extraction[] =>
  records
    .filter((record) => record.dueAt !== undefined && matches(record, filter))
    .toSorted((one, other) => String(one.dueAt).localeCompare(String(other.dueAt)));

const selectNewest = (records: readonly Extraction[], filter: ListFilter): readonly Extraction[] =>
  records
    .filter((record) => matches(record, filter))
    .toSorted((one, other) => other.requestedAt.localeCompare(one.requestedAt));

/** Whether a record has all that is asked for. */
export const matches = (record: Extraction, { status, since = '', reference, batch }: ListFilter): boolean =>
  (status === undefined || record.status === status) &&
  (reference === undefined || isSameName(record.reference, reference)) &&
  (batch === undefined || isSameName(record.batch, batch)) &&
  record.requestedAt >= since;

/** `startAt`: when one that waits in line will be started. */
export const rows = (
  records: readonly Extraction[],
  now: Date,
  sweepEveryMinutes: number,
  startAt: (record: Extraction) => string | undefined = () => undefined,
) => {
  const cells = [
    ['EXTRACTION', 'STATUS', 'ENTITY', 'CALLER', 'AGE', 'NEXT RECONCILE, OR END', 'REASON'],
    ...records.map((record) => {
      const { extractionId, status, requestedBy, requestedAt, dueAt, settledAt, lastProblem } = record;
      const codes = new Set([record.reason ?? record.collectionError, lastProblem]);
      const starts = startAt(record);
      const end = settledAt === undefined ? 'closed' : `ended ${settledAt.slice(0, 19)}Z`;
      return [
        extractionId,
        status,
        entityOrProductOf(record),
        callerName(requestedBy),
        formatSeconds(secondsSince(requestedAt, now)),
        starts !== undefined
          ? `in line, starts in ${formatSeconds(-secondsSince(starts, now))}`
          : dueAt === undefined
            ? end
            : describeDue(dueAt, now, sweepEveryMinutes),
        [...codes].filter((code) => code !== undefined).join(': '),
      ];
    }),
  ];
  const widths =
    cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};
