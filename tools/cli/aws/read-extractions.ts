import { setTimeout as delay } from 'node:timers/promises';
import {
  BatchGetItemCommand,
  type DynamoDBClient,
  paginateQuery,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { defined } from '../../../lib/defined.ts';
import { dueShardCount } from '../../../lib/extraction/deadlines.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { ReferenceEntry, ReferenceIndex } from '../../../lib/extraction/store.ts';

/** BatchGetItem accepts this many keys. */
const batchSize = 100;

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

/** Of the index `reference`: some 250 KB. */
const entriesPerQuery = 1_000;

/** The ids of all extractions with a reference, in any order. Eventually consistent. */
export const idsWithReference = async (index: ReferenceIndex, reference: string) => {
  const ids: string[] = [];
  let after: ReferenceEntry | undefined;
  do {
    const page = await index.find({ reference, limit: entriesPerQuery, after });
    ids.push(...page.entries.map(({ extractionId }) => extractionId));
    after = page.last;
  } while (after !== undefined);
  return ids;
};

/** 100 ms, doubled up to 3.2 s: a throttled table would leave the same keys out again at once. */
export const pauseMs = (tries: number): number => 100 * 2 ** Math.min(tries, 5);

/** The existing items of these keys, in any order. Strongly consistent. `projection`: which attributes; default: all. */
export async function* readItems(
  client: DynamoDBClient,
  { table, projection }: { readonly table: string; readonly projection?: string },
  all: readonly Readonly<Record<string, string>>[],
  pause: (milliseconds: number) => Promise<unknown> = delay,
): AsyncGenerator<unknown, void> {
  const options = { ConsistentRead: true, ...defined({ ProjectionExpression: projection }) };
  for (let from = 0; from < all.length; from += batchSize) {
    let keys = all.slice(from, from + batchSize).map((key) => marshall(key));
    // DynamoDB omits keys of a batch that is too large, or throttled. They are read again.
    for (let tries = 0; keys.length > 0; tries += 1) {
      if (tries > 0) await pause(pauseMs(tries - 1));
      const { Responses, UnprocessedKeys } = await client.send(
        new BatchGetItemCommand({ RequestItems: { [table]: { Keys: keys, ...options } } }),
      );
      yield* (Responses?.[table] ?? []).map((item) => unmarshall(item));
      keys = UnprocessedKeys?.[table]?.Keys ?? [];
    }
  }
}

export const readExtractions = async (
  client: DynamoDBClient,
  table: string,
  ids: readonly string[],
  pause?: (milliseconds: number) => Promise<unknown>,
): Promise<readonly Extraction[]> => {
  const keys = ids.map((extractionId) => ({ extractionId }));
  const records: Extraction[] = [];
  for await (const item of readItems(client, { table }, keys, pause)) records.push(item as Extraction);
  return records;
};

/** Of a table that a backup was restored to. */
export type BackupScan = {
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
