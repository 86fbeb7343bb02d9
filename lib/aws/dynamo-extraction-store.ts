import {
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { defined } from '../defined.ts';
import type { Extraction } from '../extraction/record.ts';
import { inAnySpelling } from '../extraction/spellings.ts';
import type { ExtractionStore, NamedEntry, NameIndex } from '../extraction/store.ts';
import { conditional, getItem } from './items.ts';
import { updateExpression } from './update-expression.ts';

type Item = Parameters<typeof unmarshall>[0];

const toRecord = (item: Item): Extraction => unmarshall(item) as Extraction;

/** The table `Extractions` on DynamoDB. A failed condition is returned. All other SDK errors are thrown. */
export const dynamoExtractionStore = (client: DynamoDBClient, table: string): ExtractionStore => ({
  create: async (record) => {
    const { refusal } = await conditional(
      client.send(
        new PutItemCommand({
          TableName: table,
          Item: marshall(record, { removeUndefinedValues: true }),
          ConditionExpression: 'attribute_not_exists(extractionId)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    if (refusal === undefined) return { created: true };
    if (refusal.Item === undefined) throw refusal;
    return { created: false, record: toRecord(refusal.Item) };
  },

  get: (extractionId) => getItem<Extraction>(client, table, { extractionId }),

  apply: async (change) => {
    const { output, refusal } = await conditional(
      client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: marshall({ extractionId: change.extractionId }),
          ...updateExpression(change),
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    if (refusal === undefined) return { applied: true, record: toRecord(output.Attributes ?? {}) };
    return { applied: false, record: refusal.Item && toRecord(refusal.Item) };
  },

  due: async (shard, now, limit, after) => {
    const { Items } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: 'due',
        KeyConditionExpression: '#dueShard = :shard AND dueAt <= :now',
        ExpressionAttributeNames: { '#dueShard': 'dueShard' },
        ExpressionAttributeValues: marshall({ ':shard': shard, ':now': now.toISOString() }),
        Limit: limit,
        ...(after === undefined ? {} : { ExclusiveStartKey: marshall({ dueShard: shard, ...after }) }),
      }),
    );
    return (Items ?? []).map((item) => {
      const { extractionId, dueAt } = unmarshall(item);
      return { extractionId: String(extractionId), dueAt: String(dueAt) };
    });
  },
});

const toEntry = (item: Item): NamedEntry => {
  const { extractionId, requestedBy, requestedAt } = unmarshall(item);
  return {
    extractionId: String(extractionId),
    requestedBy: String(requestedBy),
    requestedAt: String(requestedAt),
  };
};

/**
 * The indexes `reference` and `batch` of the table `Extractions` on DynamoDB. A name is found in any of its spellings. Throws SDK errors.
 */
export const dynamoNameIndex = (client: DynamoDBClient, table: string): NameIndex =>
  inAnySpelling(exactNameIndex(client, table));

const exactNameIndex = (client: DynamoDBClient, table: string): NameIndex => ({
  find: async ({ by, name, requestedBy, limit, after }) => {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: by,
        KeyConditionExpression:
          requestedBy === undefined ? '#name = :name' : '#name = :name AND requestedBy = :requestedBy',
        ExpressionAttributeNames: { '#name': by },
        ExpressionAttributeValues: marshall(defined({ ':name': name, ':requestedBy': requestedBy })),
        ScanIndexForward: false,
        Limit: limit,
        ...(after === undefined ? {} : { ExclusiveStartKey: marshall({ [by]: name, ...after }) }),
      }),
    );
    return {
      entries: Items.map(toEntry),
      ...(LastEvaluatedKey === undefined ? {} : { last: toEntry(LastEvaluatedKey) }),
    };
  },
});
