import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { BreakerStore, StoredBreaker } from '../breaker/breaker-store.ts';

type Item = Parameters<typeof unmarshall>[0];

/** A number of any size becomes one of JavaScript's, so that a damaged item can be read and replaced. */
const toStored = (item: Item | undefined): StoredBreaker | undefined =>
  item === undefined ? undefined : unmarshall(item, { wrapNumbers: Number });

/** The table `Breakers` on DynamoDB: one item for each caller, and one for the operator's pauses, each with a version. */
export const dynamoBreakerStore = (client: DynamoDBClient, table: string): BreakerStore => ({
  read: async (name, consistency) => {
    const ConsistentRead = consistency === 'strongly';
    const { Item } = await client.send(
      new GetItemCommand({ TableName: table, Key: marshall({ name }), ConsistentRead }),
    );
    return toStored(Item);
  },

  replace: async (name, version, next) => {
    try {
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: marshall({ name, ...next }, { removeUndefinedValues: true }),
          ...(version === undefined
            ? { ConditionExpression: 'attribute_not_exists(version)' }
            : {
                ConditionExpression: 'version = :version',
                ExpressionAttributeValues: marshall({ ':version': version }),
              }),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return next;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return toStored(error.Item);
    }
  },
});

/** Every item by its name, strongly consistent. For tools: they are few and small, and the functions read their own only. */
export const listBreakers = async (
  client: DynamoDBClient,
  table: string,
): Promise<ReadonlyMap<string, StoredBreaker>> => {
  const all = new Map<string, StoredBreaker>();
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table, ConsistentRead: true })) {
    for (const item of Items) all.set(item.name?.S ?? '', toStored(item) ?? {});
  }
  return all;
};
