import { join } from 'node:path';
import { DescribeTableCommand, DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { dynamoNameIndex } from '../../../lib/aws/dynamo-extraction-store.ts';
import { defined } from '../../../lib/defined.ts';
import type { Extraction, ExtractionStatus, StoredResults } from '../../../lib/extraction/record.ts';
import type { NamedEntry, NameIndex, NameQuery } from '../../../lib/extraction/store.ts';
import type { Deployment } from '../aws/deployment.ts';
import { matches } from '../aws/find-extractions.ts';
import { repeatFailedCalls } from '../aws/insert-extractions.ts';
import { idsWithName, readExtractions } from '../aws/read-extractions.ts';
import { findResults, s3Of } from '../aws/stores.ts';
import {
  type ExportSegment,
  endExport,
  exportExtractions,
  readProgress,
} from '../operate/export-extractions.ts';
import { type ExportedResults, exportResults, resultsIn } from '../operate/export-results.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { CliError, UsageError } from '../terminal/errors.ts';
import { formatSeconds } from '../terminal/format-seconds.ts';
import type { Since } from '../terminal/parse-time.ts';
import { makePrivateDirectory } from '../terminal/private-files.ts';
import { progressOf } from '../terminal/progress-bar.ts';
import type { CommandContext } from './command-context.ts';

type ExportOptions = {
  readonly output?: string;
  /** A directory. */
  readonly results?: string;
  readonly since?: Since;
  readonly until?: Since;
  readonly status?: ExtractionStatus;
  readonly reference?: string;
  readonly batch?: string;
  readonly unitsPerSecond: number;
  readonly yes?: boolean;
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

type Filter = Pick<ExportOptions, 'status' | 'reference' | 'batch'> & {
  readonly since?: string;
  readonly until?: string;
};
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
  const { status, since, until } = filter;
  const conditions = [
    ...(status === undefined ? [] : ['#status = :status']),
    ...(since === undefined ? [] : ['requestedAt >= :since']),
    ...(until === undefined ? [] : ['requestedAt < :until']),
  ];
  const condition = {
    FilterExpression: conditions.join(' AND '),
    ExpressionAttributeValues: marshall(defined({ ':status': status, ':since': since, ':until': until })),
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

const planOf = async (source: Source): Promise<Export> => {
  const { dynamo, table } = source;
  const { reference, batch, status, since = '', until = '9' } = source.filter;
  const name = reference ?? batch;
  if (name === undefined) return byScan(source);
  const asked = defined({ reference, batch, status: status && [status] });
  const readMatching = async (ids: readonly string[]): Promise<readonly Extraction[]> =>
    (await readExtractions(dynamo, table, ids)).filter(
      (record) =>
        matches(record, asked, new Date()) && record.requestedAt >= since && record.requestedAt < until,
    );
  const by = reference === undefined ? 'batch' : 'reference';
  return byName({ by, name }, dynamoNameIndex(dynamo, table), readMatching);
};

const confirmPlan = async (
  { records, units }: Export,
  { unitsPerSecond, yes }: Pick<ExportOptions, 'unitsPerSecond' | 'yes'>,
  shell: Shell,
): Promise<void> => {
  const dollars = ((units / 1_000_000) * dollarsPerMillionUnits).toFixed(2);
  const estimate =
    `This reads some ${records.toLocaleString('en')} records: ${units.toLocaleString('en')} read units, ` +
    `$${dollars} in us-east-1, ${formatSeconds(units / unitsPerSecond)} at ${unitsPerSecond} units a second.`;
  if (yes === true) shell.hint(estimate);
  else if (!(await shell.confirm(`${estimate} Type "export" to continue:`, 'export'))) {
    throw new CliError('Nothing was exported: type "export" at the prompt, or use --yes.');
  }
};

/** Stores what the exported file names, and prints how many. */
const storeResults = async (
  directory: string,
  file: string,
  deployment: Deployment,
  shell: Shell,
): Promise<ExportedResults> => {
  const s3 = s3Of(deployment);
  let [count, bytes] = [0, 0];
  for await (const { results } of resultsIn(file)) {
    count += 1;
    bytes += results.bytes;
  }
  shell.hint(
    `${count.toLocaleString('en')} have results, of ${Math.ceil(bytes / 1e6).toLocaleString('en')} MB.`,
  );
  const onProgress = progressOf(shell, count, 'results stored');
  const read = async (stored: StoredResults) =>
    (await findResults(s3, stored)) as AsyncIterable<Uint8Array> | undefined;
  const exported = await exportResults(directory, resultsIn(file), { read, onProgress });
  shell.wait(undefined);
  return exported;
};

export const exportCommand = async (
  {
    output: typedOutput,
    results,
    since: typedSince,
    until: typedUntil,
    unitsPerSecond,
    yes = false,
    ...names
  }: ExportOptions,
  { shell, connect }: CommandContext,
): Promise<number> => {
  const path = typedOutput ?? (results && join(results, 'extractions.jsonl'));
  if (path === undefined) throw new UsageError('Name --output <file>, --results <directory>, or both.');
  const deployment = await connect();
  const { client, output } = deployment;
  if (results !== undefined) await makePrivateDirectory(results);
  const asked = JSON.stringify({ ...names, since: typedSince?.text, until: typedUntil?.text });
  const begun = await readProgress(path, asked);
  // 30d are the days of the first time: what it has left was requested in them.
  const since = begun === undefined ? typedSince?.(shell.now()).toISOString() : begun.since;
  const until = begun === undefined ? typedUntil?.(shell.now()).toISOString() : begun.until;
  const filter = defined({ ...names, since, until });
  const dynamo = repeatFailedCalls(new DynamoDBClient(client));
  const plan = await planOf({ dynamo, table: output('ExtractionsTableName'), filter });
  await confirmPlan(plan, { unitsPerSecond, yes }, shell);
  const { read, written } = await exportExtractions(path, {
    asked,
    since,
    until,
    segments: plan.segments,
    unitsPerSecond,
    now: shell.now,
    sleep: shell.sleep,
    onPage: (done) =>
      shell.wait(`${done.read} of some ${plan.records} records read, ${done.written} written`),
  });
  shell.wait(undefined);
  const stored = results === undefined ? undefined : await storeResults(results, path, deployment, shell);
  const { differing = [] } = stored ?? {};
  if (differing.length > 0) {
    const some = differing.slice(0, 5).join(', ');
    throw new CliError(
      `The results of ${differing.length} differ from the SHA-256 in the record, and are not stored: ${some}.`,
    );
  }
  await endExport(path);
  shell.print(
    [
      `${written} extractions are in ${path}. ${read} records were read.`,
      ...describeResults(stored, results),
    ],
    {
      ...filter,
      output: path,
      written,
      read,
      ...(stored && { results, stored: stored.stored, storedBefore: stored.before, gone: stored.gone }),
    },
  );
  return 0;
};

const describeResults = (exported: ExportedResults | undefined, directory = ''): readonly string[] => {
  if (exported === undefined) return [];
  const { stored, before, gone } = exported;
  const others = [
    ...(before === 0 ? [] : [`${before} were before`]),
    ...(gone === 0 ? [] : [`${gone} are gone, by resultsRetentionDays or an erasure`]),
  ];
  return [`${[`${stored} results are stored in ${directory}, SHA-256 as recorded`, ...others].join(', ')}.`];
};
