import {
  type DynamoDBClient,
  PutItemCommand,
  paginateQuery,
  paginateScan,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type {
  ErasedOne,
  ErasedRecord,
  Erasure,
  ErasureStore,
  Tombstone,
} from '../extraction/erase/erasure.ts';
import { conditional, getItem } from './items.ts';

/** The sort key of the item of an erasure. A tombstone's sort key is the ids of its record, with a slash, which no id contains. */
const asked = 'erasure';
const itemOf = ({ extractionId, requestId }: ErasedRecord): string => `${extractionId}/${requestId}`;

const scopeKey = (scopeMac: string) => ({ erasureId: `scope/${scopeMac}`, item: 'scope' });

const itemToPut = (item: object) => marshall(item, { removeUndefinedValues: true });
const isNew = { ConditionExpression: 'attribute_not_exists(erasureId)' };

/** The table `Erasures` on DynamoDB: an erasure and its tombstones have one partition key. Throws the SDK's errors. */
export const dynamoErasureStore = (client: DynamoDBClient, table: string): ErasureStore => {
  const putNew = async (item: object): Promise<void> => {
    await conditional(client.send(new PutItemCommand({ TableName: table, Item: itemToPut(item), ...isNew })));
  };
  /** Sets a time. If it is set already, the earlier time stays. */
  const mark = async (
    { erasureId, ...of }: ErasedOne,
    name: 'removingAt' | 'erasedAt',
    at: string,
    expiresAt: number,
  ): Promise<void> => {
    await client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: marshall({ erasureId, item: itemOf(of) }),
        UpdateExpression: `SET ${name} = if_not_exists(${name}, :at), expiresAt = :expiry, extractionId = :extraction, requestId = :request`,
        ExpressionAttributeValues: marshall({
          ':at': at,
          ':expiry': expiresAt,
          ':extraction': of.extractionId,
          ':request': of.requestId,
        }),
      }),
    );
  };
  return {
    create: (erasure) => putNew({ ...erasure, item: asked }),
    get: (erasureId) => getItem<Erasure>(client, table, { erasureId, item: asked }),
    lastOf: async (scopeMac) =>
      (await getItem<{ readonly last: string }>(client, table, scopeKey(scopeMac)))?.last,
    createFor: async (scopeMac, erasure, replaced) => {
      const scope = { ...scopeKey(scopeMac), last: erasure.erasureId, expiresAt: erasure.expiresAt };
      const isLast =
        replaced === undefined
          ? { ConditionExpression: 'attribute_not_exists(erasureId)' }
          : {
              ConditionExpression: '#last = :replaced',
              // `last` is a reserved word, as `reference` below.
              ExpressionAttributeNames: { '#last': 'last' },
              ExpressionAttributeValues: marshall({ ':replaced': replaced }),
            };
      try {
        await client.send(
          new TransactWriteItemsCommand({
            TransactItems: [
              { Put: { TableName: table, Item: itemToPut(scope), ...isLast } },
              { Put: { TableName: table, Item: itemToPut({ ...erasure, item: asked }), ...isNew } },
            ],
          }),
        );
        return true;
      } catch (error) {
        // Another request was written before, or is being written now.
        if (error instanceof TransactionCanceledException) return false;
        throw error;
      }
    },
    finishSearch: async (erasureId, at, expiresAt) => {
      await client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: marshall({ erasureId, item: asked }),
          UpdateExpression: 'SET searchedAt = :at, expiresAt = :expiry REMOVE #reference',
          // A reserved word (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ReservedWords.html).
          ExpressionAttributeNames: { '#reference': 'reference' },
          ExpressionAttributeValues: marshall({ ':at': at, ':expiry': expiresAt }),
        }),
      );
    },
    bury: (tombstone) => putNew({ ...tombstone, item: itemOf(tombstone) }),
    setRemoving: (of, at, expiresAt) => mark(of, 'removingAt', at, expiresAt),
    setErased: (of, at, expiresAt) => mark(of, 'erasedAt', at, expiresAt),
  };
};

const toTombstone = (item: Parameters<typeof unmarshall>[0]): Tombstone => {
  const { item: _key, ...tombstone } = unmarshall(item);
  return tombstone as Tombstone;
};

export async function* tombstonesOf(
  client: DynamoDBClient,
  table: string,
  erasureId: string,
): AsyncGenerator<Tombstone, void> {
  for await (const { Items = [] } of paginateQuery(
    { client },
    {
      TableName: table,
      KeyConditionExpression: 'erasureId = :erasure',
      ExpressionAttributeValues: marshall({ ':erasure': erasureId }),
      ConsistentRead: true,
    },
  )) {
    for (const item of Items) if (item.requestId !== undefined) yield toTombstone(item);
  }
}

/** All erasures and all tombstones. */
export async function* everyErasure(
  client: DynamoDBClient,
  table: string,
): AsyncGenerator<Erasure | Tombstone, void> {
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table, ConsistentRead: true })) {
    for (const item of Items) {
      if (item.requestId !== undefined) yield toTombstone(item);
      else if (item.item?.S === asked) yield unmarshall(item) as Erasure;
    }
  }
}

/** All tombstones whose removal has begun. A restore leaves out their records. */
export async function* allTombstones(client: DynamoDBClient, table: string): AsyncGenerator<Tombstone, void> {
  for await (const one of everyErasure(client, table)) {
    if ('requestId' in one && (one.removingAt ?? one.erasedAt) !== undefined) yield one;
  }
}
