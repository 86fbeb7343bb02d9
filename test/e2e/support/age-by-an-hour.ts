import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { inject } from 'vitest';
import { aws } from './aws.ts';
import { readRecord } from './records.ts';

const table = inject('cosecha').outputs.ExtractionsTableName ?? '';

/** Makes a closed record, and its request, an hour older: an erasure waits for reconcile-extraction's timeout after the last change. */
export const ageByAnHour = async (extractionId: string): Promise<void> => {
  const record = await readRecord(extractionId);
  const times = (['requestedAt', 'startingAt', 'startedAt', 'settledAt', 'collectedAt'] as const).filter(
    (name) => record?.[name] !== undefined,
  );
  const before = new Date(Date.now() - 3_600_000).toISOString();
  await aws.dynamo.send(
    new UpdateItemCommand({
      TableName: table,
      Key: marshall({ extractionId }),
      UpdateExpression: `SET ${times.map((name) => `${name} = :t, `).join('')}expiresAt = expiresAt - :hour`,
      ExpressionAttributeValues: marshall({ ':t': before, ':hour': 3_600 }),
    }),
  );
};
