import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import { readExtractions } from '../../../../../tools/cli/aws/read-extractions.ts';
import { stubClient } from '../../../../support/stub-client.ts';

test('records are read in batches of 100, and keys that a batch omits are read again after a pause', async () => {
  const batches: number[] = [];
  const { client } = stubClient<DynamoDBClient>(({ input }) => {
    const { Keys } = (input.RequestItems as Record<string, { Keys: Record<string, unknown>[] }>).E ?? {
      Keys: [],
    };
    batches.push(Keys.length);
    const answered = Keys.slice(0, 60);
    const omitted = Keys.slice(60);
    const UnprocessedKeys = omitted.length === 0 ? {} : { E: { Keys: omitted } };
    return { Responses: { E: answered }, UnprocessedKeys };
  });
  const ids = Array.from({ length: 130 }, (_, n) => `id-${n}`);
  const pauses: number[] = [];
  const records = await readExtractions(client, 'E', ids, async (milliseconds) => pauses.push(milliseconds));
  expect(pauses).toEqual([100]);
  expect(batches).toEqual([100, 40, 30]);
  expect(records.map((record) => marshall(record).extractionId?.S)).toEqual(ids);
});
