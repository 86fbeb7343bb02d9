import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Extraction, ExtractionStatus } from '../../extraction/record.ts';
import { openExtractionIds, readExtractions } from '../aws/read-extractions.ts';
import type { Context } from '../context.ts';
import { describeDue } from '../describe-record.ts';
import { formatSeconds, secondsSince } from '../format-seconds.ts';

export type ListOptions = {
  readonly open?: true;
  readonly due?: true;
  readonly status?: ExtractionStatus;
};

/** Lists open extractions, or those that are due, the most overdue first. */
export const list = async ({ due, status }: ListOptions, { shell, connect }: Context): Promise<number> => {
  const { client, output } = await connect();
  const dynamo = new DynamoDBClient(client);
  const table = output('ExtractionsTableName');
  const now = shell.now();
  const ids = await openExtractionIds(dynamo, table, due === true ? now.toISOString() : undefined);
  const records = selectOpen(await readExtractions(dynamo, table, ids), status);
  if (records.length === 0) {
    shell.hint(
      `No ${due === true ? 'due' : 'open'} extraction${status === undefined ? '' : ` is ${status}`}.`,
    );
    return 0;
  }
  const [heading = '', ...lines] = rows(records, now);
  shell.hint(heading);
  for (const [index, record] of records.entries()) {
    const { extractionId, taskId, requestedAt, dueAt = '' } = record;
    const overdueSeconds = Math.max(0, Math.round(secondsSince(dueAt, now)));
    shell.print(lines[index] ?? '', {
      extractionId,
      status: record.status,
      taskId,
      requestedAt,
      dueAt,
      overdueSeconds,
    });
  }
  const dueCount = records.filter(({ dueAt = '' }) => dueAt < now.toISOString()).length;
  shell.hint(
    `${records.length} listed, ${dueCount} due. The index is eventually consistent: the last second may be missing.`,
  );
  return 0;
};

/** The records that are open, with this status if any, the most overdue first. The index may still have closed ones. */
export const selectOpen = (
  records: readonly Extraction[],
  status: ExtractionStatus | undefined,
): readonly Extraction[] =>
  records
    .filter((record) => record.dueAt !== undefined && (status === undefined || record.status === status))
    .toSorted((one, other) => String(one.dueAt).localeCompare(String(other.dueAt)));

/** A heading, and a line for each record, in columns. */
const rows = (records: readonly Extraction[], now: Date): readonly string[] => {
  const cells = [
    ['EXTRACTION', 'STATUS', 'AGE', 'NEXT RECONCILE'],
    ...records.map(({ extractionId, status, requestedAt, dueAt }) => [
      extractionId,
      status,
      formatSeconds(secondsSince(requestedAt, now)),
      describeDue(dueAt, now),
    ]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};
