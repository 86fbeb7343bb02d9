import { type DynamoDBClient, paginateQuery, paginateScan } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { readItems } from '../../../lib/aws/items.ts';
import { defined } from '../../../lib/defined.ts';
import { dueShardCount } from '../../../lib/extraction/due.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { NamedEntry, NameIndex, NameQuery } from '../../../lib/extraction/store.ts';

/** Every id in the sparse index `due`, or those that are due at `until`. Eventually consistent, as every such index. */
export const openExtractionIds = async (client: DynamoDBClient, table: string, until?: string) => {
  const idsIn = async (shard: number): Promise<string[]> => {
    const ids: string[] = [];
    const pages = paginateQuery(
      { client },
      {
        TableName: table,
        IndexName: 'due',
        KeyConditionExpression:
          until === undefined ? '#dueShard = :shard' : '#dueShard = :shard AND dueAt <= :until',
        ExpressionAttributeNames: { '#dueShard': 'dueShard' },
        ExpressionAttributeValues: marshall(defined({ ':shard': shard, ':until': until })),
      },
    );
    for await (const { Items = [] } of pages) {
      ids.push(...Items.map((item) => String(unmarshall(item).extractionId)));
    }
    return ids;
  };
  return (await Promise.all(Array.from({ length: dueShardCount }, (_, shard) => idsIn(shard)))).flat();
};

/** Of the index of a name: some 250 KB. */
const entriesPerQuery = 1_000;

/** The entries of all extractions with a name, in any order. Eventually consistent. */
export const entriesWithName = async (
  index: NameIndex,
  name: Pick<NameQuery, 'by' | 'name' | 'requestedBy'>,
): Promise<readonly NamedEntry[]> => {
  const all: NamedEntry[] = [];
  let after: NamedEntry | undefined;
  do {
    const page = await index.find({ ...name, limit: entriesPerQuery, after });
    all.push(...page.entries);
    after = page.last;
  } while (after !== undefined);
  return all;
};

export const idsWithName = async (index: NameIndex, name: Pick<NameQuery, 'by' | 'name'>) =>
  (await entriesWithName(index, name)).map(({ extractionId }) => extractionId);

export const readExtractions = async (
  client: DynamoDBClient,
  table: string,
  ids: readonly string[],
): Promise<readonly Extraction[]> => {
  const keys = ids.map((extractionId) => ({ extractionId }));
  const records: Extraction[] = [];
  for await (const item of readItems(client, { table }, keys)) records.push(item as Extraction);
  return records;
};

/** Of a table that a backup was restored to. */
type BackupScan = {
  readonly table: string;
  /** The open records, or the closed ones. */
  readonly isOpen: boolean;
  /** This one of so many segments, which are read at the same time. */
  readonly segment: number;
  readonly of: number;
};

/**
 * The pages of one segment. Nothing writes to the table, so that an eventually consistent scan, at half the price, misses nothing. The
 * attributes of the records are not checked.
 */
export async function* scanBackup(
  client: DynamoDBClient,
  { table, isOpen, segment, of }: BackupScan,
): AsyncGenerator<readonly Extraction[], void> {
  const pages = paginateScan(
    { client },
    {
      TableName: table,
      Segment: segment,
      TotalSegments: of,
      FilterExpression: `${isOpen ? 'attribute_exists' : 'attribute_not_exists'}(dueShard)`,
    },
  );
  for await (const { Items = [] } of pages) yield Items.map((item) => unmarshall(item) as Extraction);
}
