import { setTimeout as delay } from 'node:timers/promises';
import { BatchGetItemCommand, type DynamoDBClient, paginateQuery } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { dueShardCount } from '../../extraction/due-shard.ts';
import type { Extraction } from '../../extraction/record.ts';

/** BatchGetItem takes this many keys. */
const batchSize = 100;

/** Every id in the sparse index `due`, or those due before `until`. Eventually consistent, as every such index. */
export const openExtractionIds = async (
  client: DynamoDBClient,
  table: string,
  until?: string,
): Promise<readonly string[]> => {
  const shard = async (number: number): Promise<string[]> => {
    const ids: string[] = [];
    const pages = paginateQuery(
      { client },
      {
        TableName: table,
        IndexName: 'due',
        KeyConditionExpression:
          until === undefined ? '#dueShard = :shard' : '#dueShard = :shard AND dueAt <= :until',
        ExpressionAttributeNames: { '#dueShard': 'dueShard' },
        ExpressionAttributeValues: marshall({
          ':shard': number,
          ...(until === undefined ? {} : { ':until': until }),
        }),
      },
    );
    for await (const { Items = [] } of pages) {
      ids.push(...Items.map((item) => String(unmarshall(item).extractionId)));
    }
    return ids;
  };
  return (await Promise.all(Array.from({ length: dueShardCount }, (_, number) => shard(number)))).flat();
};

/** 100 ms, doubled up to 3.2 s: what a throttle left out would be left out again at once. */
const pauseMs = (tries: number): number => 100 * 2 ** Math.min(tries, 5);

/** The records of these ids that there are, in any order. Strongly consistent. */
export const readExtractions = async (
  client: DynamoDBClient,
  table: string,
  ids: readonly string[],
  pause: (milliseconds: number) => Promise<unknown> = delay,
): Promise<readonly Extraction[]> => {
  const records: Extraction[] = [];
  for (let from = 0; from < ids.length; from += batchSize) {
    let keys = ids.slice(from, from + batchSize).map((extractionId) => marshall({ extractionId }));
    // What a batch leaves out, for its size or for a throttle, is asked for again.
    for (let tries = 0; keys.length > 0; tries += 1) {
      if (tries > 0) await pause(pauseMs(tries - 1));
      const { Responses, UnprocessedKeys } = await client.send(
        new BatchGetItemCommand({ RequestItems: { [table]: { Keys: keys, ConsistentRead: true } } }),
      );
      records.push(...(Responses?.[table] ?? []).map((item) => unmarshall(item) as Extraction));
      keys = UnprocessedKeys?.[table]?.Keys ?? [];
    }
  }
  return records;
};
