import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { defined } from '../defined.ts';
import type { ReferenceEntry, ReferenceIndex } from '../extraction/store.ts';

/** Some 200 KB, and 25 read units. One query may read 1 MB. */
const entriesPerQuery = 1_000;

const toEntry = (item: Parameters<typeof unmarshall>[0]): ReferenceEntry => {
  const { extractionId, requestedAt } = unmarshall(item);
  return { extractionId: String(extractionId), requestedAt: String(requestedAt) };
};

/**
 * The index `reference` of the table `Extractions` on DynamoDB. `Limit` counts entries before the filter, so a page can be
 * empty and still have a next one
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html). Throws SDK errors.
 */
export const dynamoReferenceIndex = (client: DynamoDBClient, table: string): ReferenceIndex => ({
  find: async ({ reference, requestedBy, after }) => {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: 'reference',
        KeyConditionExpression: '#reference = :reference',
        ...(requestedBy === undefined ? {} : { FilterExpression: 'requestedBy = :requestedBy' }),
        ExpressionAttributeNames: { '#reference': 'reference' },
        ExpressionAttributeValues: marshall(
          defined({ ':reference': reference, ':requestedBy': requestedBy }),
        ),
        ScanIndexForward: false,
        Limit: entriesPerQuery,
        ...(after === undefined ? {} : { ExclusiveStartKey: marshall({ reference, ...after }) }),
      }),
    );
    return {
      entries: Items.map(toEntry),
      ...(LastEvaluatedKey === undefined ? {} : { last: toEntry(LastEvaluatedKey) }),
    };
  },
});
