import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { defined } from '../defined.ts';
import { inAnySpelling } from '../extraction/spellings.ts';
import type { NamedEntry, NameIndex } from '../extraction/store.ts';

const toEntry = (item: Parameters<typeof unmarshall>[0]): NamedEntry => {
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
