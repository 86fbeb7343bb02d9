import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { type PermitStore, type PermitUpdate, permitItem } from '../rate-limit/permit.ts';
import type { SharedItemStore, StoredItem } from '../shared-item/shared-item.ts';
import { conditional } from './items.ts';

type Item = Parameters<typeof unmarshall>[0];

/** Numbers of any size become JavaScript numbers, so that a damaged item can be read and replaced. */
const toStored = (item: Item | undefined): StoredItem | undefined =>
  item === undefined ? undefined : unmarshall(item, { wrapNumbers: Number });

/** The table `Breakers` on DynamoDB. Its items have a version and are replaced by compare-and-set. */
export const dynamoBreakerStore = (client: DynamoDBClient, table: string): SharedItemStore => ({
  read: async (name, consistency) => {
    const ConsistentRead = consistency === 'strongly';
    const { Item } = await client.send(
      new GetItemCommand({ TableName: table, Key: marshall({ name }), ConsistentRead }),
    );
    return toStored(Item);
  },

  replace: async (name, version, next) => {
    const { refusal } = await conditional(
      client.send(
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
      ),
    );
    return refusal === undefined ? next : toStored(refusal.Item);
  },
});

const isMissing = 'attribute_not_exists(#next)';
const isDamaged = 'NOT attribute_type(#next, :number)';
const isBehind = '#next < :from';
const isTooFarAhead = '#next > :to';

/** The update of `next`. A value that is no number is damaged, so a reset replaces it. */
const permitUpdate = (update: PermitUpdate) =>
  update.kind === 'add'
    ? {
        UpdateExpression: 'SET #next = #next + :value',
        ConditionExpression: '#next BETWEEN :from AND :to',
        ExpressionAttributeValues: marshall({ ':value': update.ms, ':from': update.from, ':to': update.to }),
      }
    : {
        UpdateExpression: 'SET #next = :value',
        ConditionExpression: [
          isMissing,
          isDamaged,
          isBehind,
          ...(update.to === undefined ? [] : [isTooFarAhead]),
        ].join(' OR '),
        ExpressionAttributeValues: marshall(
          { ':value': update.next, ':from': update.from, ':to': update.to, ':number': 'N' },
          { removeUndefinedValues: true },
        ),
      };

/** An item takes 1,000 writes a second (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html). */
const throttling = ['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'];

const nextOf = (item: Item | undefined): number | undefined => {
  const { next } = item === undefined ? {} : unmarshall(item, { wrapNumbers: Number });
  return typeof next === 'number' ? next : undefined;
};

/** The item `permit` of the table `Breakers` on DynamoDB. */
export const dynamoPermitStore = (client: DynamoDBClient, table: string): PermitStore => ({
  update: async (update) => {
    try {
      const { output, refusal } = await conditional(
        client.send(
          new UpdateItemCommand({
            TableName: table,
            Key: marshall({ name: permitItem }),
            ...permitUpdate(update),
            ExpressionAttributeNames: { '#next': 'next' },
            ReturnValues: 'UPDATED_NEW',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      );
      return refusal === undefined
        ? { kind: 'taken', next: nextOf(output.Attributes) ?? 0 }
        : { kind: 'refused', next: nextOf(refusal.Item) };
    } catch (error) {
      if (throttling.includes((error as Error).name)) return { kind: 'throttled' };
      throw error;
    }
  },
});

/** All items by name, strongly consistent. Only tools read all of them, and they are few and small. */
export const listBreakers = async (
  client: DynamoDBClient,
  table: string,
): Promise<ReadonlyMap<string, StoredItem>> => {
  const all = new Map<string, StoredItem>();
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table, ConsistentRead: true })) {
    for (const item of Items) all.set(item.name?.S ?? '', toStored(item) ?? {});
  }
  return all;
};
