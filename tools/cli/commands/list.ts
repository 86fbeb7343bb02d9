import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoBreakerStore } from '../../../lib/aws/dynamo-breaker-store.ts';
import { breakerNames } from '../../../lib/breaker/breaker-state.ts';
import { type BreakerStore, readBreaker } from '../../../lib/breaker/breaker-store.ts';
import { isOverdue } from '../../../lib/extraction/deadlines.ts';
import type { Extraction, ExtractionStatus } from '../../../lib/extraction/record.ts';
import { openExtractionIds, readExtractions } from '../aws/read-extractions.ts';
import { describeBreaker } from '../terminal/describe-breaker.ts';
import { describeDue } from '../terminal/describe-record.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import type { Since } from '../terminal/parse-time.ts';
import type { Shell } from '../terminal/shell.ts';
import type { Context } from './context.ts';

export type ListOptions = {
  readonly open?: true;
  readonly due?: true;
  readonly status?: ExtractionStatus;
  readonly since?: Since;
  readonly reference?: string;
};

/** Lists open extractions, or those that are due. Those that are due for longest come first. */
export const list = async (options: ListOptions, { shell, connect }: Context): Promise<number> => {
  const { due, status, since, reference } = options;
  const deployment = await connect();
  const { client, output } = deployment;
  const sweepEveryMinutes = deployment.sweepEveryMinutes();
  const dynamo = new DynamoDBClient(client);
  const table = output('ExtractionsTableName');
  const now = shell.now();
  await hintHeldCalls(dynamoBreakerStore(dynamo, output('BreakersTableName')), shell);
  const ids = await openExtractionIds(dynamo, table, due === true ? now.toISOString() : undefined);
  const filter = { status, reference, since: since?.(now).toISOString() };
  const records = selectOpen(await readExtractions(dynamo, table, ids), filter);
  if (records.length === 0) {
    const filtered = Object.values(filter).some((value) => value !== undefined);
    shell.hint(`No extraction is ${due === true ? 'due' : 'open'}${filtered ? ' and matches' : ''}.`);
    return 0;
  }
  const [heading = '', ...lines] = rows(records, now, sweepEveryMinutes);
  shell.hint(heading);
  for (const [index, record] of records.entries()) {
    const { extractionId, taskId, reference: its, requestedAt, dueAt = '' } = record;
    shell.print(lines[index] ?? '', {
      extractionId,
      status: record.status,
      taskId,
      reference: its,
      requestedAt,
      dueAt,
      dueSeconds: Math.max(0, Math.round(secondsSince(dueAt, now))),
      isOverdue: isOverdue(record, now, sweepEveryMinutes),
    });
  }
  const dueCount = records.filter(({ dueAt = '' }) => dueAt < now.toISOString()).length;
  const overdueCount = records.filter((record) => isOverdue(record, now, sweepEveryMinutes)).length;
  shell.hint(
    `${records.length} listed, ${dueCount} due, ${overdueCount} overdue. The index is eventually consistent: the last second may be missing.`,
  );
  return 0;
};

/** Prints which calls to the provider are held, as that is why extractions wait. */
const hintHeldCalls = async (store: Pick<BreakerStore, 'read'>, shell: Shell): Promise<void> => {
  for (const name of breakerNames) {
    const { isHeld, line } = describeBreaker(
      name,
      (await readBreaker(store, name, shell.now())).state,
      shell.now(),
    );
    if (isHeld) shell.hint(`${line}.`);
  }
};

/** An absent field matches every record. `since` is compared with the time of the request. */
export type ListFilter = {
  readonly status?: ExtractionStatus | undefined;
  readonly since?: string | undefined;
  readonly reference?: string | undefined;
};

/** The records that are open and match, by the time at which they are due. The index may still have closed ones. */
export const selectOpen = (
  records: readonly Extraction[],
  { status, since = '', reference }: ListFilter,
): readonly Extraction[] =>
  records
    .filter(
      (record) =>
        record.dueAt !== undefined &&
        (status === undefined || record.status === status) &&
        (reference === undefined || record.reference === reference) &&
        record.requestedAt >= since,
    )
    .toSorted((one, other) => String(one.dueAt).localeCompare(String(other.dueAt)));

/** A heading, and a line for each record, in columns. */
export const rows = (
  records: readonly Extraction[],
  now: Date,
  sweepEveryMinutes: number,
): readonly string[] => {
  const cells = [
    ['EXTRACTION', 'STATUS', 'AGE', 'NEXT RECONCILE'],
    ...records.map(({ extractionId, status, requestedAt, dueAt }) => [
      extractionId,
      status,
      formatSeconds(secondsSince(requestedAt, now)),
      describeDue(dueAt, now, sweepEveryMinutes),
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
