import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Extraction } from '../../extraction/record.ts';
import { openExtractionIds, readExtractions } from '../aws/open-extractions.ts';
import type { Context } from '../context.ts';
import { describeDue } from '../describe-record.ts';
import { formatSeconds, secondsSince } from '../format-seconds.ts';

export type ListOptions = { readonly open?: true; readonly due?: true };

/** Lists what is open, or what is due among it, the most overdue first. */
export const list = async ({ due }: ListOptions, { shell, connect }: Context): Promise<number> => {
  const system = await connect();
  const dynamo = new DynamoDBClient(system.client);
  const table = system.output('ExtractionsTableName');
  const now = shell.now();
  const ids = await openExtractionIds(dynamo, table, due === true ? now.toISOString() : undefined);
  const records = (await readExtractions(dynamo, table, ids))
    // The index may still name what was closed a moment ago.
    .filter(({ dueAt }) => dueAt !== undefined)
    .toSorted((one, other) => String(one.dueAt).localeCompare(String(other.dueAt)));
  if (records.length === 0) {
    shell.hint(due === true ? 'Nothing is due.' : 'Nothing is open.');
    return 0;
  }
  const lines = rows(records, now);
  shell.hint(lines[0] ?? '');
  records.forEach((record, index) => {
    const { extractionId, status, taskId, requestedAt, dueAt = '' } = record;
    const overdueSeconds = Math.max(0, Math.round(secondsSince(dueAt, now)));
    shell.print(lines[index + 1] ?? '', {
      extractionId,
      status,
      taskId,
      requestedAt,
      dueAt,
      overdueSeconds,
    });
  });
  const late = records.filter(({ dueAt = '' }) => dueAt < now.toISOString()).length;
  shell.hint(
    `${records.length} open, ${late} due. The index is eventually consistent: the last second may be missing.`,
  );
  return 0;
};

/** A heading and a line each, in columns. */
const rows = (records: readonly Extraction[], now: Date): readonly string[] => {
  const cells = [
    ['EXTRACTION', 'STATUS', 'AGE', 'NEXT LOOK'],
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
