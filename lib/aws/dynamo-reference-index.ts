import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { defined } from '../defined.ts';
import type { ReferenceEntry, ReferenceIndex } from '../extraction/store.ts';

const toEntry = (item: Parameters<typeof unmarshall>[0]): ReferenceEntry => {
  const { extractionId, requestedBy, requestedAt } = unmarshall(item);
  return {
    extractionId: String(extractionId),
    requestedBy: String(requestedBy),
    requestedAt: String(requestedAt),
  };
};

/** The index `reference` of the table `Extractions` on DynamoDB. Throws SDK errors. */
export const dynamoReferenceIndex = (client: DynamoDBClient, table: string): ReferenceIndex => ({
  find: async ({ reference, requestedBy, limit, after }) => {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: 'reference',
        KeyConditionExpression:
          requestedBy === undefined
            ? '#reference = :reference'
            : '#reference = :reference AND requestedBy = :requestedBy',
        ExpressionAttributeNames: { '#reference': 'reference' },
        ExpressionAttributeValues: marshall(
          defined({ ':reference': reference, ':requestedBy': requestedBy }),
        ),
        ScanIndexForward: false,
        Limit: limit,
        ...(after === undefined ? {} : { ExclusiveStartKey: marshall({ reference, ...after }) }),
      }),
    );
    return {
      entries: Items.map(toEntry),
      ...(LastEvaluatedKey === undefined ? {} : { last: toEntry(LastEvaluatedKey) }),
    };
  },
});
