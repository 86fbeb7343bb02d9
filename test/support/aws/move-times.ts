import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Extraction } from '../../../lib/extraction/record.ts';

export type Times = Partial<
  Pick<Extraction, 'requestedAt' | 'startingAt' | 'deadlineAt' | 'settledAt' | 'dueAt' | 'notBefore'>
>;

/** Sets times of a record in this table. Returns false, and sets none, if the record lacks one of them. */
export const moveTimesIn = async (
  client: DynamoDBClient,
  TableName: string,
  extractionId: string,
  times: Times,
): Promise<boolean> => {
  const names = Object.keys(times);
  const command = new UpdateItemCommand({
    TableName,
    Key: marshall({ extractionId }),
    UpdateExpression: `SET ${names.map((name) => `${name} = :${name}`).join(', ')}`,
    ConditionExpression: names.map((name) => `attribute_exists(${name})`).join(' AND '),
    ExpressionAttributeValues: marshall(
      Object.fromEntries(Object.entries(times).map(([name, time]) => [`:${name}`, time])),
    ),
  });
  try {
    await client.send(command);
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};
