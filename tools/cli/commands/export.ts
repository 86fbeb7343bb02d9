import { DescribeTableCommand, DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { dynamoNameIndex } from '../../../lib/aws/dynamo-name-index.ts';
import { defined } from '../../../lib/defined.ts';
import type { Extraction, ExtractionStatus } from '../../../lib/extraction/record.ts';
import type { NamedEntry, NameIndex, NameQuery } from '../../../lib/extraction/store.ts';
import { matches } from '../aws/find-extractions.ts';
import { repeatFailedCalls } from '../aws/insert-extractions.ts';
import { idsWithName, readExtractions } from '../aws/read-extractions.ts';
import { type ExportSegment, exportExtractions, readProgress } from '../operate/export-extractions.ts';
import { CliError } from '../terminal/errors.ts';
import { formatSeconds } from '../terminal/format-seconds.ts';
import type { Since } from '../terminal/parse-time.ts';
import type { CommandContext } from './command-context.ts';

type ExportOptions = {
  readonly output: string;
  readonly since?: Since;
  readonly status?: ExtractionStatus;
  readonly reference?: string;
  readonly batch?: string;
  readonly unitsPerSecond: number;
  readonly yes?: true;
};

/** Parts of a scan that are read at the same time. A page of 1 MB takes 128 units, so that four suffice for 500 a second. */
const segments = 4;

/** As one call of BatchGetItem reads. */
const idsPerPage = 100;

/**
 * A read of 4 KB that is eventually consistent takes half a unit
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html).
 */
const bytesPerUnit = 8_192;

/** On demand, in us-east-1 (https://aws.amazon.com/dynamodb/pricing/on-demand/). */
const dollarsPerMillionUnits = 0.125;

type Filter = Pick<ExportOptions, 'status' | 'reference' | 'batch'> & { readonly since?: string };
type Source = { readonly dynamo: DynamoDBClient; readonly table: string; readonly filter: Filter };

/** How much is read, and by which segments. */
type Export = {
  readonly records: number;
  readonly units: number;
  readonly segments: readonly ExportSegment[];
};

/** All records, most of which the filter may leave out. AWS counts their number and size every six hours. */
const byScan = async ({ dynamo, table, filter }: Source): Promise<Export> => {
  const { Table } = await dynamo.send(new DescribeTableCommand({ TableName: table }));
  const { status, since } = filter;
  const conditions = [
    ...(status === undefined ? [] : ['#status = :status']),
    ...(since === undefined ? [] : ['requestedAt >= :since']),
  ];
  const condition = {
    FilterExpression: conditions.join(' AND '),
    ExpressionAttributeValues: marshall(defined({ ':status': status, ':since': since })),
    ...(status === undefined ? {} : { ExpressionAttributeNames: { '#status': 'status' } }),
  };
  const segment = (index: number): ExportSegment =>
    async function* (after) {
      const pages = paginateScan(
        { client: dynamo, startingToken: after },
        {
          TableName: table,
          Segment: index,
          TotalSegments: segments,
          ReturnConsumedCapacity: 'TOTAL',
          ...(conditions.length === 0 ? {} : condition),
        },
      );
      for await (const { Items = [], ScannedCount = 0, ConsumedCapacity, LastEvaluatedKey } of pages) {
        const records = Items.map((item) => unmarshall(item) as Extraction);
        const units = ConsumedCapacity?.CapacityUnits ?? 0;
        yield { records, read: ScannedCount, units, next: LastEvaluatedKey };
      }
    };
  return {
    records: Table?.ItemCount ?? 0,
    units: Math.ceil((Table?.TableSizeBytes ?? 0) / bytesPerUnit),
    segments: Array.from({ length: segments }, (_, index) => segment(index)),
  };
};

/** Those that an index has by a name. */
export const byName = async (
  named: Pick<NameQuery, 'by' | 'name'>,
  index: NameIndex,
  read: (ids: readonly string[]) => Promise<readonly Extraction[]>,
): Promise<Export> => {
  const { length } = await idsWithName(index, named);
  const segment: ExportSegment = async function* (begun) {
    let after = begun && (unmarshall(begun) as NamedEntry);
    do {
      const { entries, last } = await index.find({ ...named, limit: idsPerPage, after });
      const ids = entries.map(({ extractionId }) => extractionId);
      yield { records: await read(ids), read: ids.length, units: ids.length, next: last && marshall(last) };
      after = last;
    } while (after !== undefined);
  };
  return { records: length, units: length, segments: [segment] };
};

export const exportCommand = async (
  { output: path, since: typedSince, unitsPerSecond, yes, ...names }: ExportOptions,
  { shell, connect }: CommandContext,
): Promise<number> => {
  const { client, output } = await connect();
  const asked = JSON.stringify({ ...names, since: typedSince?.text });
  const begun = await readProgress(path, asked);
  // 30d are the days of the first time: what it has left was requested in them.
  const since = begun === undefined ? typedSince?.(shell.now()).toISOString() : begun.since;
  const filter = defined({ ...names, since });
  const [dynamo, table] = [repeatFailedCalls(new DynamoDBClient(client)), output('ExtractionsTableName')];
  const readMatching = async (ids: readonly string[]): Promise<readonly Extraction[]> =>
    (await readExtractions(dynamo, table, ids)).filter(
      (record) =>
        matches(record, defined({ ...names, status: names.status && [names.status] }), shell.now()) &&
        record.requestedAt >= (since ?? ''),
    );
  const { reference, batch } = names;
  const name = reference ?? batch;
  const by = reference === undefined ? 'batch' : 'reference';
  const plan = await (name === undefined
    ? byScan({ dynamo, table, filter })
    : byName({ by, name }, dynamoNameIndex(dynamo, table), readMatching));
  const dollars = ((plan.units / 1_000_000) * dollarsPerMillionUnits).toFixed(2);
  const estimate =
    `This reads some ${plan.records.toLocaleString('en')} records: ${plan.units.toLocaleString('en')} read units, ` +
    `$${dollars} in us-east-1, ${formatSeconds(plan.units / unitsPerSecond)} at ${unitsPerSecond} units a second.`;
  if (yes === true) shell.hint(estimate);
  else if (!(await shell.confirm(`${estimate} Type "export" to continue:`, 'export'))) {
    throw new CliError('Nothing was exported: type "export" at the prompt, or use --yes.');
  }
  const { read, written } = await exportExtractions(path, {
    asked,
    since,
    segments: plan.segments,
    unitsPerSecond,
    now: shell.now,
    sleep: shell.sleep,
    onPage: (done) =>
      shell.wait(`${done.read} of some ${plan.records} records read, ${done.written} written`),
  });
  shell.wait(undefined);
  shell.print(`${written} extractions are in ${path}. ${read} records were read.`, {
    ...filter,
    output: path,
    written,
    read,
  });
  return 0;
};
