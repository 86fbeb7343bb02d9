import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { inject } from 'vitest';
import { aws } from './aws.ts';
import { readRecord } from './records.ts';

const table = inject('cosecha').outputs.ExtractionsTableName ?? '';

/** Makes a closed record, and its request, an hour older: an erasure waits for reconcile-extraction's timeout after the last change. */
export const ageByAnHour = async (extractionId: string): Promise<void> => {
  const isCollected = (await readRecord(extractionId))?.collectedAt !== undefined;
  const before = new Date(Date.now() - 3_600_000).toISOString();
  await aws.dynamo.send(
    new UpdateItemCommand({
      TableName: table,
      Key: marshall({ extractionId }),
      UpdateExpression: `SET requestedAt = :t, settledAt = :t, expiresAt = expiresAt - :hour${isCollected ? ', collectedAt = :t' : ''}`,
      ExpressionAttributeValues: marshall({ ':t': before, ':hour': 3_600 }),
    }),
  );
};
