import { ConditionalCheckFailedException, DynamoDBClient, type ScanCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dynamoBreakerStore, listBreakers } from '../../../../lib/aws/dynamo-breaker-store.ts';
import { dynamoExtractionStore } from '../../../../lib/aws/dynamo-extraction-store.ts';
import { dynamoReferenceIndex } from '../../../../lib/aws/dynamo-reference-index.ts';
import { dynamoRefusedCredentialsStore } from '../../../../lib/aws/dynamo-refused-credentials-store.ts';
import { dynamoRequestStore } from '../../../../lib/aws/dynamo-request-store.ts';
import { dynamoTaskStore } from '../../../../lib/aws/dynamo-task-store.ts';
import { type BreakerStore, pausesItem } from '../../../../lib/breaker/breaker-store.ts';
import { markStarting } from '../../../../lib/extraction/transitions.ts';
import { fail, stubClient } from '../../../support/aws/stub-client.ts';
import { at, extraction, timings } from '../../../support/data/extraction-fixtures.ts';
import { interpretedDynamo } from '../../../support/stores/interpreted-dynamo.ts';
import { memoryBreakerStore } from '../../../support/stores/memory-breaker-store.ts';
import { memoryRefusedCredentialsStore } from '../../../support/stores/memory-refused-credentials-store.ts';
import { memoryRequestStore } from '../../../support/stores/memory-request-store.ts';
import { memoryTaskStore } from '../../../support/stores/memory-task-store.ts';

test.each<readonly [string, (client: DynamoDBClient) => Promise<unknown>]>([
  ['Extractions', (client) => dynamoExtractionStore(client, 'T').get('id')],
  ['Tasks', (client) => dynamoTaskStore(client, 'T', () => at(0)).get('id')],
  ['Requests', (client) => dynamoRequestStore(client, 'T').get('id')],
  ['Refusals', (client) => dynamoRefusedCredentialsStore(client, 'T').get('id')],
])('reads of %s are consistent: what was just written must not count as lost', async (_table, read) => {
  const { client, sent } = stubClient<DynamoDBClient>(() => ({}));
  expect(await read(client)).toBeUndefined();
  expect(sent).toMatchObject([{ name: 'GetItemCommand', input: { ConsistentRead: true } }]);
});

const overDynamo = (): BreakerStore => dynamoBreakerStore(interpretedDynamo('name').client, 'T');

const caller = 'arn:aws:iam::111122223333:role/orders';
const one = { state: { groups: [{ name: 'bank', failed: [['extraction-1', 1]] }] }, version: 'one' } as const;
const two = { state: { acceptedAt: 1, groups: [] }, version: 'two' };

test.each([
  ['DynamoDB', overDynamo],
  ['memory', memoryBreakerStore],
])('a breaker is replaced only if nobody else replaced it, on %s', async (_, newStore) => {
  const store = newStore();
  expect(await store.read(caller)).toBeUndefined();
  expect(await store.replace(caller, undefined, one)).toEqual(one);
  expect(await store.replace(caller, undefined, two)).toMatchObject(one);
  expect(await store.replace(caller, one.version, two)).toEqual(two);
  expect(await store.replace(caller, one.version, one)).toMatchObject(two);
  expect(await store.read(caller)).toMatchObject(two);
  expect(await store.read(pausesItem)).toBeUndefined();
});

test('a damaged item can be read and replaced, whatever its numbers and its version', async () => {
  const Item = { name: { S: caller }, state: { N: '1e300' }, version: { N: '7' } };
  const { client, sent } = stubClient<DynamoDBClient>(() => ({ Item }));
  const store = dynamoBreakerStore(client, 'T');
  expect(await store.read(caller)).toMatchObject({ state: 1e300, version: 7 });
  expect(await store.replace(caller, 7, one)).toEqual(one);
  expect(sent[1]?.input.ExpressionAttributeValues).toEqual({ ':version': { N: '7' } });
});

test('every item is listed by its name, from all pages', async () => {
  const pages = [
    { Items: [marshall({ name: caller, ...one })], LastEvaluatedKey: marshall({ name: caller }) },
    { Items: [marshall({ name: pausesItem, state: {}, version: 'two' })] },
  ];
  const client = Object.assign(new DynamoDBClient({ region: 'eu-west-1' }), {
    send: async ({ input }: ScanCommand) => pages[input.ExclusiveStartKey === undefined ? 0 : 1],
  });
  const listed = await listBreakers(client, 'T');
  expect([...listed.keys()]).toEqual([caller, pausesItem]);
  expect(listed.get(caller)).toMatchObject(one);
});

const extractions = () => dynamoExtractionStore(interpretedDynamo('extractionId').client, 'T');

test('a second create changes nothing and returns the item that is there', async () => {
  const store = extractions();
  const first = extraction({ fingerprint: 'first' });
  expect(await store.create(first)).toEqual({ created: true });
  const second = extraction({ fingerprint: 'second' });
  expect(await store.create(second)).toEqual({ created: false, record: first });
  expect(await store.get(first.extractionId)).toEqual(first);
});

test('a change that applies returns the new item, and one that does not the old item, if there is one', async () => {
  const store = extractions();
  const record = extraction();
  const mark = markStarting({ record, attemptId: 'attempt-1', now: at(10), timings });
  expect(await store.apply(mark)).toEqual({ applied: false, record: undefined });
  expect(await store.create(record)).toEqual({ created: true });
  const applied = await store.apply(mark);
  expect(applied).toMatchObject({ applied: true, record: { status: 'STARTING', attemptId: 'attempt-1' } });
  const another = markStarting({ record, attemptId: 'attempt-2', now: at(11), timings });
  expect(await store.apply(another)).toEqual({ applied: false, record: applied.record });
});

test.each([
  ['any other failure', new Error('throttled')],
  ['a refusal without the item', new ConditionalCheckFailedException({ message: 'refused', $metadata: {} })],
])('%s of a create is passed on: whether the write took effect is unknown', async (_what, error) => {
  const { client } = stubClient<DynamoDBClient>(() => fail(error));
  await expect(dynamoExtractionStore(client, 'T').create(extraction())).rejects.toBe(error);
});

test('a failure of a change is passed on, unless it was refused', async () => {
  const throttled = new Error('throttled');
  const { client } = stubClient<DynamoDBClient>(() => fail(throttled));
  const mark = markStarting({ record: extraction(), attemptId: 'a', now: at(0), timings });
  await expect(dynamoExtractionStore(client, 'T').apply(mark)).rejects.toBe(throttled);
});

test('due asks the index for one shard, up to now, oldest first, page by page', async () => {
  const [one, two] = ['one', 'two'].map((extractionId) => ({ extractionId, dueAt: at(-5).toISOString() }));
  const { client, sent } = stubClient<DynamoDBClient>(() => ({ Items: [marshall(one), marshall(two)] }));
  const store = dynamoExtractionStore(client, 'T');
  expect(await store.due(7, at(0), 25)).toEqual([one, two]);
  await store.due(7, at(0), 25, two);
  const input = {
    TableName: 'T',
    IndexName: 'due',
    KeyConditionExpression: '#dueShard = :shard AND dueAt <= :now',
    ExpressionAttributeNames: { '#dueShard': 'dueShard' },
    ExpressionAttributeValues: marshall({ ':shard': 7, ':now': at(0).toISOString() }),
    Limit: 25,
  };
  expect(sent).toEqual([
    { name: 'QueryCommand', input },
    { name: 'QueryCommand', input: { ...input, ExclusiveStartKey: marshall({ ...two, dueShard: 7 }) } },
  ]);
});

test('find asks the index for all callers or for one, the newest first, page by page', async () => {
  const entry = { extractionId: 'one', requestedAt: at(0).toISOString() };
  const key = { reference: 'order 7', ...entry };
  const { client, sent } = stubClient<DynamoDBClient>(() => ({ Items: [], LastEvaluatedKey: marshall(key) }));
  const index = dynamoReferenceIndex(client, 'T');
  expect(await index.find({ reference: 'order 7', requestedBy: 'me' })).toEqual({ entries: [], last: entry });
  await index.find({ reference: 'order 7', after: entry });
  const asked = {
    TableName: 'T',
    IndexName: 'reference',
    KeyConditionExpression: '#reference = :reference',
    ExpressionAttributeNames: { '#reference': 'reference' },
    ScanIndexForward: false,
    Limit: 1_000,
  };
  expect(sent.map(({ input }) => input)).toEqual([
    {
      ...asked,
      FilterExpression: 'requestedBy = :requestedBy',
      ExpressionAttributeValues: marshall({ ':reference': 'order 7', ':requestedBy': 'me' }),
    },
    {
      ...asked,
      ExpressionAttributeValues: marshall({ ':reference': 'order 7' }),
      ExclusiveStartKey: marshall(key),
    },
  ]);
});

type Step = readonly [call: string, ...args: unknown[]];

const taskStep = fc.oneof(
  fc.tuple(
    fc.constant('link'),
    fc.record(
      {
        taskId: fc.constant('task'),
        extractionId: fc.constantFrom('e1', 'e2'),
        callbackAttempt: fc.nat(3),
        callbackToken: fc.constantFrom('t1', 't2', 't3'),
        credentialsMac: fc.constantFrom('m1', 'm2'),
        isConfirmed: fc.constant(true),
      },
      { requiredKeys: ['taskId', 'extractionId', 'callbackAttempt', 'callbackToken'] },
    ),
  ),
  fc.tuple(
    fc.constant('recordStatus'),
    fc.record({
      taskId: fc.constant('task'),
      taskStatus: fc.constantFrom('COMPLETED', 'FAILED'),
      notifiedAt: fc.constantFrom('n1', 'n2'),
    }),
  ),
  fc.tuple(fc.constant('adopt'), fc.constant('task'), fc.constantFrom('e1', 'e2')),
  fc.tuple(
    fc.constant('notice'),
    fc.constant('task'),
    fc.constantFrom('r1', 'r2'),
    fc.constantFrom(true, undefined),
  ),
);

/** Each write is an hour later, and the milliseconds do not count: only the first of an item may decide when it expires, 30 days after it. */
const tasksOnDynamo = () => {
  let hours = -1;
  return dynamoTaskStore(interpretedDynamo('taskId').client, 'T', () => {
    hours += 1;
    return new Date(hours * 3_600_000 + 999);
  });
};

const requestStep = fc.oneof(
  fc.tuple(
    fc.constant('put'),
    fc.record(
      {
        requestId: fc.constant('request'),
        extractionId: fc.constant('e1'),
        sealed: fc.constantFrom('one', 'another'),
        expiresAt: fc.nat(3),
        taskId: fc.constantFrom('t1', 't2'),
      },
      { requiredKeys: ['requestId', 'extractionId', 'sealed', 'expiresAt'] },
    ),
  ),
  fc.tuple(fc.constant('remove'), fc.constant('request'), fc.constantFrom('t1', 't2', undefined)),
  fc.tuple(fc.constant('extend'), fc.constant('request'), fc.nat(3)),
);

const markStep = fc.tuple(
  fc.constant('put'),
  fc.record({
    credentialsMac: fc.constantFrom('mac', 'another'),
    extractionId: fc.constantFrom('e1', 'e2', 'e3'),
    noticedAt: fc.constantFrom('n1', 'n2', 'n3'),
    isRefused: fc.boolean(),
    expiresAt: fc.nat(3),
  }),
);

/** What each call returns or throws, and the item after it. */
const run = async (store: object, key: string, steps: readonly Step[]): Promise<readonly unknown[]> => {
  const calls = store as Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;
  const seen: unknown[] = [];
  for (const [call, ...args] of steps) {
    seen.push(await calls[call]?.(...args).catch((error: Error) => error.name), await calls.get?.(key));
  }
  return seen;
};

test.each<readonly [string, fc.Arbitrary<Step>, onDynamo: () => object, inMemory: () => object]>([
  ['task', taskStep, tasksOnDynamo, memoryTaskStore],
  [
    'request',
    requestStep,
    () => dynamoRequestStore(interpretedDynamo('requestId').client, 'T'),
    memoryRequestStore,
  ],
  [
    'mac',
    markStep,
    () => dynamoRefusedCredentialsStore(interpretedDynamo('credentialsMac').client, 'T'),
    memoryRefusedCredentialsStore,
  ],
])(
  'any order of writes leaves the same %s in DynamoDB as in memory',
  async (key, step, onDynamo, inMemory) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        expect(await run(onDynamo(), key, steps)).toEqual(await run(inMemory(), key, steps));
      }),
      { numRuns: 300 },
    );
  },
);
