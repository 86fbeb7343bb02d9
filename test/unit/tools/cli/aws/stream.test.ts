import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { SFNClient } from '@aws-sdk/client-sfn';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import { defined } from '#lib/defined.ts';
import { stubClient } from '#support/aws/stub-client.ts';
import { at, clock, closedExtraction, extractionIn, id, iso } from '#support/data/extraction-fixtures.ts';
import { describeStreamRecord } from '#tools/cli/aws/describe-stream-record.ts';
import { openStream } from '#tools/cli/aws/follow-stream.ts';
import { allStreamChanges } from '#tools/cli/aws/read-extraction-changes.ts';
import { recentExtractionsReader } from '#tools/cli/aws/recent-extractions-reader.ts';

const key = { extractionId: { S: 'e-1' } };
const requested = { ...key, status: { S: 'REQUESTED' } };
const running = { ...key, status: { S: 'RUNNING' }, taskId: { S: 't-1' }, dueShard: { N: '3' } };
const completed = { ...key, status: { S: 'COMPLETED' }, taskId: { S: 't-1' }, settledBy: { S: 'webhook' } };

const collected = { ...completed, collectedAt: { S: '2026-01-01T00:00:00.000Z' } };

test.each([
  ['the first status of a new record', 'INSERT', undefined, requested, 'REQUESTED'],
  ['the transition and what is new', 'MODIFY', running, completed, 'RUNNING → COMPLETED  settledBy webhook'],
  ['what is new', 'MODIFY', completed, collected, 'COMPLETED  collectedAt 2026-01-01T00:00:00.000Z'],
  ['the last status of a removed record', 'REMOVE', completed, undefined, 'COMPLETED'],
] as const)('the line of a stream record is %s', (_what, eventName, OldImage, NewImage, line) => {
  const dynamodb = defined({ OldImage, NewImage });
  expect(describeStreamRecord({ eventName, dynamodb })).toBe(`${eventName}  ${line}`);
});

type Input = Readonly<Record<string, unknown>>;
type Answer = (input: Input) => object;
const oneShard: Answer = () => ({ Shards: [{ ShardId: 'shard' }] });

const streamOf = (getRecords: Answer, describeStream = oneShard): DynamoDBStreamsClient =>
  stubClient<DynamoDBStreamsClient>(({ constructor: { name }, input }) => {
    if (name === 'DescribeStreamCommand') return { StreamDescription: describeStream(input) };
    if (name === 'GetShardIteratorCommand') return { ShardIterator: `in ${String(input.ShardId)}` };
    return getRecords(input);
  }).client;

test('a page whose read is throttled is read again', async () => {
  let reads = 0;
  const client = streamOf(() => {
    reads += 1;
    if (reads > 1) return { Records: [{ eventID: 'read' }] };
    throw Object.assign(new Error('Too many readers'), { name: 'LimitExceededException' });
  });
  const records = await openStream(client, 'arn', new AbortController().signal);
  expect((await records.next()).value?.eventID).toBe('read');
});

// DescribeStream returns at most 100 shards, and a busy table has more.
test('every shard of a stream is read, including those of a second page', async () => {
  const first = { ShardId: 'shard-1' };
  const client = streamOf(
    ({ ShardIterator }) => ({ Records: [{ eventID: ShardIterator }] }),
    ({ ExclusiveStartShardId: after }) =>
      after ? { Shards: [{ ShardId: 'shard-2' }] } : { Shards: [first], LastEvaluatedShardId: 'shard-1' },
  );
  const abort = new AbortController();
  const records = await openStream(client, 'arn', abort.signal);
  const ids = [(await records.next()).value?.eventID, (await records.next()).value?.eventID];
  abort.abort();
  await expect(records.next()).rejects.toThrow();
  expect(ids).toEqual(['in shard-1', 'in shard-2']);
});

const record = (eventName: string, dynamodb: object, more: object = {}) => ({
  eventName,
  dynamodb: { Keys: marshall({ extractionId: id }), ...dynamodb },
  ...more,
});

/** One shard with these pages, after which it is open and empty. */
const shardWith = (...pages: readonly (readonly object[])[]) => {
  let page = 0;
  return streamOf(() => {
    page += 1;
    return { Records: pages[page - 1] ?? [], NextShardIterator: `after ${page}` };
  });
};

test('all changes are read until a time, also of a stream that is written to without end', async () => {
  const page = (_: unknown, second: number) => [
    record('REMOVE', { ApproximateCreationDateTime: at(second) }),
  ];
  const client = shardWith(...Array.from({ length: 1_000 }, page));
  let count = 0;
  for await (const _ of allStreamChanges(client, 'arn', iso(500))) count += 1;
  expect(count).toBe(502);
});

const idOf = (index: number): string => `id-${String(index).padStart(4, '0')}`;

type Keys = readonly { readonly extractionId: { readonly S: string } }[];
const keysIn = (input: Input): Keys => (input.RequestItems as { readonly T: { readonly Keys: Keys } }).T.Keys;

/** A deployment with so many executions, of which the odd ones are closed. Execution `n` started `n` seconds ago. */
const readerOf = (executions: number, pageSize = 1_000) => {
  const time = clock(10_000);
  const listExecutions = ({ input }: { readonly input: Input }) => {
    const from = Number(input.nextToken ?? 0);
    const to = Math.min(from + pageSize, executions);
    const names = Array.from({ length: to - from }, (_, index) => from + index);
    return {
      executions: names.map((n) => ({ name: idOf(n), startDate: at(10_000 - n) })),
      nextToken: to < executions ? String(to) : undefined,
    };
  };
  const stepFunctions = stubClient<SFNClient>(listExecutions, SFNClient);
  const dynamo = stubClient<DynamoDBClient>(({ input }) => {
    const records = keysIn(input).map(({ extractionId: { S: extractionId } }) => {
      if (Number(extractionId.at(-1)) % 2 === 0) return extractionIn('RUNNING', { extractionId });
      return closedExtraction({ extractionId, status: 'COMPLETED' });
    });
    return { Responses: { T: records.map((record) => marshall(record)) } };
  });
  const clients = { stepFunctions: stepFunctions.client, dynamo: dynamo.client };
  const read = recentExtractionsReader({ ...clients, stateMachineArn: 'arn', table: 'T', now: time.now });
  const keysRead = () => dynamo.sent.flatMap(({ input }) => keysIn(input)).length;
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
