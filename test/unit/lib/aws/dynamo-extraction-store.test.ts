import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import { dynamoExtractionStore } from '../../../../lib/aws/dynamo-extraction-store.ts';
import { markStarting } from '../../../../lib/extraction/transitions.ts';
import { at, extraction, timings } from '../../../support/extraction-fixtures.ts';
import { interpretedDynamo } from '../../../support/interpreted-dynamo.ts';

const failing = (error: Error) =>
  ({
    send: async () => {
      throw error;
    },
  }) as unknown as DynamoDBClient;

test('a record that was created is read back as it was, without its undefined fields', async () => {
  const store = dynamoExtractionStore(interpretedDynamo('extractionId').client, 'T');
  const record = extraction({ reference: 'mine' });
  expect(await store.create(record)).toEqual({ created: true });
  expect(await store.get(record.extractionId)).toEqual(record);
  expect(await store.get('another')).toBeUndefined();
});

test('a second create changes nothing and returns the row that is there', async () => {
  const store = dynamoExtractionStore(interpretedDynamo('extractionId').client, 'T');
  const first = extraction({ fingerprint: 'first' });
  await store.create(first);
  expect(await store.create(extraction({ fingerprint: 'second' }))).toEqual({
    created: false,
    record: first,
  });
  expect(await store.get(first.extractionId)).toEqual(first);
});

test('a change that applies returns the new row, one that does not the old row', async () => {
  const store = dynamoExtractionStore(interpretedDynamo('extractionId').client, 'T');
  const record = extraction();
  await store.create(record);
  const mark = markStarting({ record, attemptId: 'attempt-1', now: at(10), timings });
  const applied = await store.apply(mark);
  expect(applied).toMatchObject({ applied: true, record: { status: 'STARTING', attemptId: 'attempt-1' } });
  expect(await store.apply(markStarting({ record, attemptId: 'attempt-2', now: at(11), timings }))).toEqual({
    applied: false,
    record: applied.record,
  });
});

test('a change of a row that is not there creates none', async () => {
  const table = interpretedDynamo('extractionId');
  const store = dynamoExtractionStore(table.client, 'T');
  expect(
    await store.apply(markStarting({ record: extraction(), attemptId: 'attempt-1', now: at(0), timings })),
  ).toEqual({
    applied: false,
    record: undefined,
  });
  expect(table.rows.size).toBe(0);
});

test('reads are consistent, and every write asks for the old row should it be refused', async () => {
  const table = interpretedDynamo('extractionId');
  const store = dynamoExtractionStore(table.client, 'T');
  await store.create(extraction());
  await store.get(extraction().extractionId);
  await store.apply(markStarting({ record: extraction(), attemptId: 'attempt-1', now: at(0), timings }));
  const [put, get, update] = table.sent as { readonly input: object }[];
  expect(put?.input).toMatchObject({ TableName: 'T', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });
  expect(get).toBeInstanceOf(GetItemCommand);
  expect(get?.input).toMatchObject({ TableName: 'T', ConsistentRead: true });
  expect(update).toBeInstanceOf(UpdateItemCommand);
  expect(update?.input).toMatchObject({ TableName: 'T', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });
});

test('due asks the index for one shard, up to now, oldest first, page by page', async () => {
  const [one, two] = ['one', 'two'].map((extractionId) => ({ extractionId, dueAt: at(-5).toISOString() }));
  const sent: QueryCommand[] = [];
  const client = {
    send: async (command: QueryCommand) => {
      sent.push(command);
      return { Items: [marshall(one), marshall(two)] };
    },
  } as unknown as DynamoDBClient;
  const store = dynamoExtractionStore(client, 'T');
  expect(await store.due(7, at(0), 25)).toEqual([one, two]);
  expect(sent[0]).toBeInstanceOf(QueryCommand);
  expect(sent[0]?.input).toEqual({
    TableName: 'T',
    IndexName: 'due',
    KeyConditionExpression: '#dueShard = :shard AND dueAt <= :now',
    ExpressionAttributeNames: { '#dueShard': 'dueShard' },
    ExpressionAttributeValues: marshall({ ':shard': 7, ':now': at(0).toISOString() }),
    Limit: 25,
  });
  await store.due(7, at(0), 25, two);
  expect(sent[1]?.input).toMatchObject({ ExclusiveStartKey: marshall({ ...two, dueShard: 7 }) });
});

test('any other failure is passed on: whether the write took effect is unknown', async () => {
  const throttled = new Error('throttled');
  const store = dynamoExtractionStore(failing(throttled), 'T');
  await expect(store.create(extraction())).rejects.toBe(throttled);
  await expect(
    store.apply(markStarting({ record: extraction(), attemptId: 'a', now: at(0), timings })),
  ).rejects.toBe(throttled);
});

test('a create that is refused without telling by what is a failure', async () => {
  const refusal = new ConditionalCheckFailedException({ message: 'refused', $metadata: {} });
  await expect(dynamoExtractionStore(failing(refusal), 'T').create(extraction())).rejects.toBe(refusal);
});
