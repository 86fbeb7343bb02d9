import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import { recentExtractionsReader } from '../../../../../tools/cli/aws/read-recent-extractions.ts';
import { at, clock, closedExtraction, extractionIn } from '../../../../support/extraction-fixtures.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const idOf = (index: number): string => `id-${String(index).padStart(4, '0')}`;

/** A deployment with so many executions, of which the odd ones are closed. Execution `n` started `n` seconds ago. */
const readerOf = (executions: number, pageSize = 1_000) => {
  const time = clock(10_000);
  const stepFunctions = stubClient<SFNClient>(({ input }) => {
    const from = Number(input.nextToken ?? 0);
    return {
      executions: Array.from({ length: Math.min(pageSize, executions - from) }, (_, index) => ({
        name: idOf(from + index),
        startDate: at(10_000 - from - index),
      })),
      ...(from + pageSize < executions ? { nextToken: String(from + pageSize) } : {}),
    };
  });
  const dynamo = stubClient<DynamoDBClient>(({ input }) => {
    const [[table, { Keys }]] = Object.entries(input.RequestItems as object) as [
      [string, { Keys: Record<string, never>[] }],
    ];
    const records = Keys.map((key) => {
      const { extractionId } = unmarshall(key) as { extractionId: string };
      const isClosed = Number(extractionId.slice(-1)) % 2 === 1;
      return isClosed
        ? closedExtraction({ extractionId, status: 'COMPLETED' })
        : extractionIn('RUNNING', { extractionId });
    });
    return { Responses: { [table]: records.map((record) => marshall(record)) } };
  });
  const clients = {
    // The SDK's paginators accept only an instance of their client.
    stepFunctions: Object.assign(Object.create(SFNClient.prototype), stepFunctions.client),
    dynamo: dynamo.client,
  };
  const read = recentExtractionsReader({ ...clients, stateMachineArn: 'arn', table: 'T', now: time.now });
  const keysRead = () =>
    dynamo.sent.flatMap(({ input }) => (input.RequestItems as { T: { Keys: unknown[] } }).T.Keys).length;
  return { read, time, stepFunctions, dynamo, keysRead };
};

test('1,000 executions are 11 requests, and older ones are counted as not read', async () => {
  const { read, stepFunctions, dynamo } = readerOf(1_500);
  const { items, complete } = await read(at(0));
  expect({ count: items.length, complete }).toEqual({ count: 1_000, complete: false });
  expect([stepFunctions.sent.length, dynamo.sent.length]).toEqual([1, 10]);
});

test('executions that started before are not read', async () => {
  const { read, stepFunctions } = readerOf(60, 20);
  const { items, complete } = await read(at(10_000 - 24.5));
  expect({ count: items.length, complete }).toEqual({ count: 25, complete: true });
  expect(stepFunctions.sent).toHaveLength(2);
});

test('a closed record is read again after a minute, and an open one each time', async () => {
  const { read, time, keysRead } = readerOf(10);
  await read(at(0));
  expect(keysRead()).toBe(10);
  const second = await read(at(0));
  expect(second.items).toHaveLength(10);
  expect(keysRead()).toBe(15);
  time.advance(60);
  await read(at(0));
  expect(keysRead()).toBe(25);
});
