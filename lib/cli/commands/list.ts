import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { openExtractionIds, readExtractions } from '../../aws/open-extractions.ts';
import type { Extraction } from '../../extraction/record.ts';
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
    .filter(({ openUntil }) => openUntil !== undefined)
    .toSorted((one, other) => String(one.openUntil).localeCompare(String(other.openUntil)));
  if (records.length === 0) {
    shell.hint(due === true ? 'Nothing is due.' : 'Nothing is open.');
    return 0;
  }
  const lines = rows(records, now);
  shell.hint(lines[0] ?? '');
  records.forEach((record, index) => {
    const { extractionId, status, taskId, requestedAt, openUntil = '' } = record;
    const overdueSeconds = Math.max(0, Math.round(secondsSince(openUntil, now)));
    shell.tell(lines[index + 1] ?? '', {
      extractionId,
      status,
      taskId,
      requestedAt,
      openUntil,
      overdueSeconds,
    });
  });
  const late = records.filter(({ openUntil = '' }) => openUntil < now.toISOString()).length;
  shell.hint(
    `${records.length} open, ${late} due. The index is eventually consistent: the last second may be missing.`,
  );
  return 0;
};

/** A heading and a line each, in columns. */
const rows = (records: readonly Extraction[], now: Date): readonly string[] => {
  const cells = [
    ['EXTRACTION', 'STATUS', 'AGE', 'NEXT LOOK'],
    ...records.map(({ extractionId, status, requestedAt, openUntil }) => [
      extractionId,
      status,
      formatSeconds(secondsSince(requestedAt, now)),
      describeDue(openUntil, now),
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
