import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { RefusalMark, RefusedCredentialsStore } from '../extraction/store.ts';

/** The table `Refusals` on DynamoDB. Throws the SDK's errors. */
export const dynamoRefusedCredentialsStore = (
  client: DynamoDBClient,
  table: string,
): RefusedCredentialsStore => ({
  get: async (credentialsMac) => {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: table, Key: marshall({ credentialsMac }), ConsistentRead: true }),
    );
    return Item === undefined ? undefined : (unmarshall(Item) as RefusalMark);
  },

  put: async (mark) => {
    try {
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: marshall(mark),
          ConditionExpression:
            'attribute_not_exists(credentialsMac) OR (extractionId <> :extraction AND noticedAt < :at)',
          ExpressionAttributeValues: marshall({ ':extraction': mark.extractionId, ':at': mark.noticedAt }),
        }),
      );
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  },
});
