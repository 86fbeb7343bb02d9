import { paginateScan } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { inject } from 'vitest';
import type { StoredRequest } from '#lib/extraction/store.ts';
import { aws } from './aws.ts';

const TableName = inject('cosecha').outputs.RequestsTableName;

/** The items of an extraction in the table Requests. */
export const requestsOf = async (extractionId: string): Promise<readonly StoredRequest[]> => {
  const items: StoredRequest[] = [];
  const scan = paginateScan(
    { client: aws.dynamo },
    {
      TableName,
      ConsistentRead: true,
      FilterExpression: 'extractionId = :id',
      ExpressionAttributeValues: marshall({ ':id': extractionId }),
    },
  );
  for await (const { Items = [] } of scan)
    items.push(...Items.map((item) => unmarshall(item) as StoredRequest));
  return items;
};
