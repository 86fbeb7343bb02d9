import type { ServerResponse } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { stubClient } from '#support/aws/stub-client.ts';
import { extraction } from '#support/data/extraction-fixtures.ts';
import { httpServer } from '#support/programs/stub-servers.ts';
import { insertMissing, repeatFailedCalls } from '#tools/cli/aws/insert-extractions.ts';

const recordsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => extraction({ extractionId: `id-${index}` }));

type Statement = { readonly Parameters: readonly { readonly S?: string }[] };

/** A client that answers each statement by its id, and the ids of its calls. */
const answering = (answerOf: (id: string) => object | undefined) => {
  const calls: string[][] = [];
  const { client } = stubClient<DynamoDBClient>(({ input }) => {
    const ids = (input.Statements as readonly Statement[]).map(
      ({ Parameters }) => Parameters.find(({ S }) => S?.startsWith('id-'))?.S ?? '',
    );
    calls.push(ids);
    return { Responses: ids.flatMap((id) => answerOf(id) ?? []) };
  });
  return { client, calls };
};

const written = { TableName: 'E' };
const failed = (Code: string) => ({ Error: { Code, Message: 'why' } });

test('records are inserted in batches of 25, those that are there are returned, and throttled ones are written after a pause', async () => {
  const throttled = new Set(['id-3', 'id-4']);
  const { client, calls } = answering((id) => {
    if (throttled.delete(id)) return failed('ProvisionedThroughputExceeded');
    return id === 'id-1' || id === 'id-4' ? failed('DuplicateItem') : written;
  });
  const pauses: number[] = [];
  const existing = await insertMissing(client, 'E', recordsOf(60), async (ms) => pauses.push(ms));
  expect(existing.map(({ extractionId }) => extractionId)).toEqual(['id-1', 'id-4']);
  expect(calls.map(({ length }) => length)).toEqual([25, 25, 10, 2]);
  expect(pauses).toEqual([100]);
});

test('a statement without an answer is not taken as written', async () => {
  const answers = [undefined, written];
  const { client, calls } = answering(() => answers.shift());
  await insertMissing(client, 'E', recordsOf(1), async () => undefined);
  expect(calls).toEqual([['id-0'], ['id-0']]);
});

test.each([
  ['AccessDenied', 1, 'DynamoDB refused a record. AccessDenied: why'],
  ['ThrottlingError', 12, 'DynamoDB wrote no record in 12 tries.'],
])('%s stops the command after %i calls', async (code, count, message) => {
  const { client, calls } = answering(() => failed(code));
  await expect(insertMissing(client, 'E', recordsOf(2), async () => undefined)).rejects.toThrow(message);
  expect(calls).toHaveLength(count);
});

test('a call that is throttled, fails at AWS or is cut off is repeated after a pause', async () => {
  const error = JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException' });
  const answers: ((response: ServerResponse) => unknown)[] = [
    (response) => response.writeHead(400).end(error),
    (response) => response.writeHead(503).end('{}'),
    (response) => response.destroy(),
    (response) => response.end(JSON.stringify({ Responses: [written] })),
  ];
  const { baseUrl } = await httpServer((response) => answers.shift()?.(response));
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const client = new DynamoDBClient({ endpoint: baseUrl, region: 'eu-west-1', credentials, maxAttempts: 1 });
  const pauses: number[] = [];
  const patient = repeatFailedCalls(client, async (ms) => pauses.push(ms));
  expect(await insertMissing(patient, 'E', recordsOf(1))).toEqual([]);
  expect(pauses).toEqual([100, 200, 400]);
});
