import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Extraction } from '#lib/extraction/record.ts';

export type Times = Partial<
  Pick<Extraction, 'requestedAt' | 'startingAt' | 'deadlineAt' | 'settledAt' | 'dueAt' | 'notBefore'>
>;

/** What is before each time in every record. The audit finds a record whose steps are in another order. */
const before: Readonly<Partial<Record<keyof Times, readonly (keyof Extraction)[]>>> = {
  startingAt: ['requestedAt'],
  settledAt: ['requestedAt', 'startingAt', 'startedAt', 'deadlineAt'],
};

/** The same times, with each that is before one of them in the record, and would be after it then. */
const withEarlier = (record: Partial<Extraction>, times: Times): Times => {
  const earlier = Object.entries(times).flatMap(([name, time]) =>
    (before[name as keyof Times] ?? [])
      .filter((one) => String(record[one] ?? '') > time)
      .map((one) => [one, time] as const),
  );
  return { ...Object.fromEntries(earlier), ...times };
};

/** Sets times of a record in this table, and with them what was before. Returns false, and sets none, if the record lacks one of them. */
export const moveTimesIn = async (
  client: DynamoDBClient,
  TableName: string,
  extractionId: string,
  times: Times,
): Promise<boolean> => {
  const Key = marshall({ extractionId });
  const { Item = {} } = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
  const all = withEarlier(unmarshall(Item), times);
  const names = Object.keys(all);
  const command = new UpdateItemCommand({
    TableName,
    Key,
    UpdateExpression: `SET ${names.map((name) => `${name} = :${name}`).join(', ')}`,
    ConditionExpression: names.map((name) => `attribute_exists(${name})`).join(' AND '),
    ExpressionAttributeValues: marshall(
      Object.fromEntries(Object.entries(all).map(([name, time]) => [`:${name}`, time])),
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
