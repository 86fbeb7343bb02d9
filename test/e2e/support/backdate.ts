import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { inject } from 'vitest';
import { moveTimesIn, type Times } from '../../support/aws/move-times.ts';
import { aws } from './aws.ts';
import { readRecord } from './records.ts';

const { ExtractionsTableName = '' } = inject('cosecha').outputs;

/** Sets times of a record. Returns false, and sets none, if the record lacks one of them. */
export const moveTimes = (extractionId: string, times: Times): Promise<boolean> =>
  moveTimesIn(aws.dynamo, ExtractionsTableName, extractionId, times);

/** Longer than any time limit but collectForSeconds and graceSeconds, which are a day. */
const HOUR_MS = 3_600_000;

/**
 * Moves a time of a record an hour into the past, as if the hour had passed. `requestedAt` ends the start window,
 * `startingAt` makes the start attempt stale, `settledAt` ends the machine's time for collecting.
 */
export const backdate = async (
  extractionId: string,
  name: 'requestedAt' | 'startingAt' | 'settledAt',
): Promise<void> => {
  const moved = await moveTimes(extractionId, { [name]: new Date(Date.now() - HOUR_MS).toISOString() });
  if (!moved) throw new Error(`${extractionId} has no ${name}.`);
};

/** Makes a closed record, and its request, an hour older: an erasure waits for reconcile-extraction's timeout after the last change. */
export const ageByAnHour = async (extractionId: string): Promise<void> => {
  const record = await readRecord(extractionId);
  const times = (['requestedAt', 'startingAt', 'startedAt', 'settledAt', 'collectedAt'] as const).filter(
    (name) => record?.[name] !== undefined,
  );
  const before = new Date(Date.now() - HOUR_MS).toISOString();
  await aws.dynamo.send(
    new UpdateItemCommand({
      TableName: ExtractionsTableName,
      Key: marshall({ extractionId }),
      UpdateExpression: `SET ${times.map((name) => `${name} = :t, `).join('')}expiresAt = expiresAt - :hour`,
      ExpressionAttributeValues: marshall({ ':t': before, ':hour': HOUR_MS / 1_000 }),
    }),
  );
};
