import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { inject } from 'vitest';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { aws } from './aws.ts';

const { ExtractionsTableName } = inject('cosecha').outputs;

type Times = Partial<
  Pick<Extraction, 'requestedAt' | 'startingAt' | 'deadlineAt' | 'settledAt' | 'dueAt' | 'notBefore'>
>;

/** Sets times of a record. Returns false, and sets none, if the record lacks one of them. */
export const moveTimes = async (extractionId: string, times: Times): Promise<boolean> => {
  const names = Object.keys(times);
  const command = new UpdateItemCommand({
    TableName: ExtractionsTableName,
    Key: marshall({ extractionId }),
    UpdateExpression: `SET ${names.map((name) => `${name} = :${name}`).join(', ')}`,
    ConditionExpression: names.map((name) => `attribute_exists(${name})`).join(' AND '),
    ExpressionAttributeValues: marshall(
      Object.fromEntries(Object.entries(times).map(([name, time]) => [`:${name}`, time])),
    ),
  });
  try {
    await aws.dynamo.send(command);
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};

/** Longer than any time limit but collectForSeconds and graceSeconds, which are a day. */
const HOUR_MS = 3_600_000;

/**
 * Moves a time of a record an hour into the past, as if the hour had passed. `requestedAt` ends the start window,
 * `startingAt` makes the start attempt stale, `deadlineAt` passes the deadline, `settledAt` ends the machine's time for
 * collecting.
 */
export const backdate = async (
  extractionId: string,
  name: 'requestedAt' | 'startingAt' | 'deadlineAt' | 'settledAt',
): Promise<void> => {
  const moved = await moveTimes(extractionId, { [name]: new Date(Date.now() - HOUR_MS).toISOString() });
  if (!moved) throw new Error(`${extractionId} has no ${name}.`);
};
