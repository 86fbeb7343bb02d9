import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import { readExtractions } from '../../../../../lib/cli/aws/open-extractions.ts';
import { stubClient } from '../../../../support/stub-client.ts';

test('records are read by the hundred, and what a batch leaves out is asked for again after a pause', async () => {
  const asked: number[] = [];
  const { client } = stubClient<DynamoDBClient>(({ input }) => {
    const { Keys } = (input.RequestItems as Record<string, { Keys: Record<string, unknown>[] }>).E ?? {
      Keys: [],
    };
    asked.push(Keys.length);
    const answered = Keys.slice(0, 60);
    const left = Keys.slice(60);
    return { Responses: { E: answered }, UnprocessedKeys: left.length === 0 ? {} : { E: { Keys: left } } };
  });
  const ids = Array.from({ length: 130 }, (_, n) => `id-${n}`);
  const pauses: number[] = [];
  const records = await readExtractions(client, 'E', ids, async (milliseconds) => pauses.push(milliseconds));
  expect(pauses).toEqual([100]);
  expect(asked).toEqual([100, 40, 30]);
  expect(records.map((record) => marshall(record).extractionId?.S)).toEqual(ids);
});
