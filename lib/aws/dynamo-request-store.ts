import {
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { RequestStore, StoredRequest } from '../extraction/store.ts';
import { conditional, getItem } from './items.ts';

const exists = 'attribute_exists(requestId)';
const isNew = 'attribute_not_exists(requestId)';
const hasTheSameData = 'sealed = :sealed';
const expiresEarlier = 'expiresAt < :expiry';
const wasNotPutBack = 'attribute_not_exists(taskId)';
const wasPutBackForTheTask = 'taskId = :task';

/** The condition of a removal: the item was not put back, or only for this task. */
const putBackForNoneBut = (of: Parameters<RequestStore['remove']>[1]) => {
  if (of === 'any task') return {};
  if (of.taskId === undefined) return { ConditionExpression: wasNotPutBack };
  return {
    ConditionExpression: `${wasNotPutBack} OR ${wasPutBackForTheTask}`,
    ExpressionAttributeValues: marshall({ ':task': of.taskId }),
  };
};

/**
 * The table `Requests` on DynamoDB. Throws the SDK's errors. The client `removing` makes the removals, for which a process has little time.
 */
export const dynamoRequestStore = (
  client: DynamoDBClient,
  table: string,
  removing: DynamoDBClient = client,
): RequestStore => {
  const keyed = (requestId: string) => ({ TableName: table, Key: marshall({ requestId }) });
  return {
    put: async (item) => {
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: marshall(item, { removeUndefinedValues: true }),
          // Each ciphertext is unique. So an equal one comes from a put of this process whose answer was lost.
          ConditionExpression: `${isNew} OR ${hasTheSameData}`,
          ExpressionAttributeValues: marshall({ ':sealed': item.sealed }),
        }),
      );
    },

    get: (requestId) => getItem<StoredRequest>(client, table, { requestId }),

    remove: async (requestId, of) => {
      await conditional(
        removing.send(new DeleteItemCommand({ ...keyed(requestId), ...putBackForNoneBut(of) })),
      );
    },

    extend: async (requestId, expiresAt) => {
      await conditional(
        client.send(
          new UpdateItemCommand({
            ...keyed(requestId),
            UpdateExpression: 'SET expiresAt = :expiry',
            ConditionExpression: `${exists} AND ${expiresEarlier}`,
            ExpressionAttributeValues: marshall({ ':expiry': expiresAt }),
          }),
        ),
      );
    },
  };
};
