import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  type PutItemCommand,
  QueryCommand,
  type ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dynamoBreakerStore, listBreakers } from '../../../../lib/aws/dynamo-breaker-store.ts';
import { dynamoExtractionStore } from '../../../../lib/aws/dynamo-extraction-store.ts';
import { dynamoReferenceIndex } from '../../../../lib/aws/dynamo-reference-index.ts';
import { dynamoRefusalStore } from '../../../../lib/aws/dynamo-refusal-store.ts';
import { dynamoRequestStore } from '../../../../lib/aws/dynamo-request-store.ts';
import { dynamoTaskStore } from '../../../../lib/aws/dynamo-task-store.ts';
import type { BreakerState } from '../../../../lib/breaker/breaker-state.ts';
import { type BreakerStore, pausesItem } from '../../../../lib/breaker/breaker-store.ts';
import type {
  RefusalMark,
  RefusalStore,
  RequestStore,
  Task,
  TaskStore,
} from '../../../../lib/extraction/store.ts';
import { markStarting } from '../../../../lib/extraction/transitions.ts';
import { stubClient } from '../../../support/aws/stub-client.ts';
import { at, clock, extraction, timings } from '../../../support/data/extraction-fixtures.ts';
import { interpretedDynamo } from '../../../support/stores/interpreted-dynamo.ts';
import { memoryBreakerStore } from '../../../support/stores/memory-breaker-store.ts';
import { memoryRefusalStore } from '../../../support/stores/memory-refusal-store.ts';
import { memoryRequestStore } from '../../../support/stores/memory-request-store.ts';
import { memoryTaskStore } from '../../../support/stores/memory-task-store.ts';

const overDynamo = (): BreakerStore => dynamoBreakerStore(interpretedDynamo('name').client, 'T');

const caller = 'arn:aws:iam::111122223333:role/orders';
const one: { state: BreakerState; version: string } = {
  state: { groups: [{ name: 'bank', failed: [['extraction-1', 1]] }] },
  version: 'one',
};
const two: typeof one = {
  state: {
    acceptedAt: 1,
    groups: [
      {
        name: 'bank',
        failed: [['extraction-1', 2]],
        opened: { since: 2, pause: 30, turn: { at: 4, holder: 'process' } },
      },
    ],
    opened: { since: 3, failing: { at: 4 }, others: { at: 5 }, taken: 1, cause: 'http-503' },
  },
  version: 'two',
};

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
  const sent: PutItemCommand[] = [];
  const Item = { name: { S: caller }, state: { N: '1e300' }, version: { N: '7' } };
  const client = {
    send: async (command: GetItemCommand | PutItemCommand) =>
      command instanceof GetItemCommand ? { Item } : void sent.push(command),
  };
  const store = dynamoBreakerStore(client as unknown as DynamoDBClient, 'T');
  expect(await store.read(caller)).toMatchObject({ state: 1e300, version: 7 });
  expect(await store.replace(caller, 7, one)).toEqual(one);
  expect(sent[0]?.input.ExpressionAttributeValues).toEqual({ ':version': { N: '7' } });
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

test('a second create changes nothing and returns the item that is there', async () => {
  const store = dynamoExtractionStore(interpretedDynamo('extractionId').client, 'T');
  const first = extraction({ fingerprint: 'first' });
  await store.create(first);
  expect(await store.create(extraction({ fingerprint: 'second' }))).toEqual({
    created: false,
    record: first,
  });
  expect(await store.get(first.extractionId)).toEqual(first);
});

test('a change that applies returns the new item, one that does not the old item', async () => {
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

test('a change of an item that is not there creates none', async () => {
  const table = interpretedDynamo('extractionId');
  const store = dynamoExtractionStore(table.client, 'T');
  expect(
    await store.apply(markStarting({ record: extraction(), attemptId: 'attempt-1', now: at(0), timings })),
  ).toEqual({
    applied: false,
    record: undefined,
  });
  expect(table.items.size).toBe(0);
});

test('reads are consistent, and every write asks for the old item should it be refused', async () => {
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

const dynamo = () => {
  const table = interpretedDynamo('taskId');
  return { ...table, store: dynamoTaskStore(table.client, 'T', () => at(0)) };
};

const withoutTtl = ({ expiresAt: _expiresAt, ...task }: Task & { readonly expiresAt?: number }): Task => task;

const step = fc.oneof(
  fc.record(
    {
      call: fc.constant('link' as const),
      extractionId: fc.constantFrom('e1', 'e2'),
      callbackAttempt: fc.nat(3),
      callbackToken: fc.constantFrom('t1', 't2', 't3'),
      credentialsMac: fc.constantFrom('m1', 'm2'),
      isConfirmed: fc.constant(true as const),
    },
    { requiredKeys: ['call', 'extractionId', 'callbackAttempt', 'callbackToken'] },
  ),
  fc.record({
    call: fc.constant('recordStatus' as const),
    taskStatus: fc.constantFrom('COMPLETED', 'FAILED'),
    notifiedAt: fc.constantFrom('n1', 'n2'),
  }),
  fc.record({ call: fc.constant('adopt' as const), extractionId: fc.constantFrom('e1', 'e2') }),
);

const markStep = fc.record({
  credentialsMac: fc.constantFrom('m1', 'm2'),
  extractionId: fc.constantFrom('e1', 'e2', 'e3'),
  noticedAt: fc.constantFrom('n1', 'n2', 'n3'),
  isRefused: fc.boolean(),
  expiresAt: fc.nat(3),
});

const run = async (
  store: TaskStore,
  steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[],
) => {
  const answers: unknown[] = [];
  for (const one of steps) {
    if (one.call === 'link') {
      const { linked, task } = await store.link({ taskId: 'task', ...one });
      answers.push({ linked, task: withoutTtl(task) });
    } else if (one.call === 'adopt') {
      answers.push(withoutTtl(await store.adopt('task', one.extractionId)));
    } else {
      answers.push(withoutTtl(await store.recordStatus({ taskId: 'task', ...one })));
    }
  }
  answers.push(await store.notice('task', 'r1'), await store.notice('task', 'r2', true));
  const item = await store.get('task');
  return { answers, item: item === undefined ? undefined : withoutTtl(item) };
};

test('any order of links, deliveries and adoptions leaves the same in DynamoDB as in memory', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      expect(await run(memoryTaskStore(), steps)).toEqual(await run(dynamo().store, steps));
    }),
    { numRuns: 300 },
  );
});

test('whatever is written first, and after it, an item has 30 days to live from then on', async () => {
  const ofThatTask = fc.tuple(step, fc.array(step, { maxLength: 4 }));
  await fc.assert(
    fc.asyncProperty(ofThatTask, async ([first, others]) => {
      const table = interpretedDynamo('taskId');
      const time = clock();
      const store = dynamoTaskStore(table.client, 'T', time.now);
      for (const one of [first, ...others]) {
        await run(store, [one]);
        expect(table.items.get('task')?.expiresAt).toBe(at(0).getTime() / 1000 + 30 * 86_400);
        time.advance(3_600);
      }
    }),
  );
});

test('reads are consistent: a status that was just stored must not be missed', async () => {
  const { store, sent } = dynamo();
  await store.get('task');
  expect(sent[0]).toMatchObject({ input: { ConsistentRead: true } });
});

const requestStep = fc.oneof(
  fc.record({
    call: fc.constant('put' as const),
    item: fc.record(
      {
        requestId: fc.constant('request'),
        extractionId: fc.constant('e1'),
        sealed: fc.constantFrom('one', 'another'),
        expiresAt: fc.nat(3),
        taskId: fc.constantFrom('t1', 't2'),
      },
      { requiredKeys: ['requestId', 'extractionId', 'sealed', 'expiresAt'] },
    ),
  }),
  fc.record({
    call: fc.constant('remove' as const),
    taskId: fc.option(fc.constantFrom('t1', 't2'), { nil: undefined }),
  }),
  fc.record({ call: fc.constant('extend' as const), expiresAt: fc.nat(3) }),
);

/** What is there after each call, and which were refused. */
const runRequests = async (
  store: RequestStore,
  steps: readonly (typeof requestStep extends fc.Arbitrary<infer S> ? S : never)[],
) => {
  const seen: unknown[] = [];
  for (const one of steps) {
    const made =
      one.call === 'put'
        ? store.put(one.item)
        : one.call === 'remove'
          ? store.remove('request', one.taskId)
          : store.extend('request', one.expiresAt);
    const refused = await made.then(
      () => undefined,
      (error: Error) => error.name,
    );
    seen.push(refused, await store.get('request'));
  }
  return seen;
};

test('any order of puts, removals and extensions of a request leaves the same in DynamoDB as in memory', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(requestStep, { maxLength: 8 }), async (steps) => {
      const { client } = interpretedDynamo('requestId');
      expect(await runRequests(dynamoRequestStore(client, 'T'), steps)).toEqual(
        await runRequests(memoryRequestStore(), steps),
      );
    }),
    { numRuns: 300 },
  );
});

test('any order of marks leaves the same in DynamoDB as in memory: the last notice, and one for each extraction', async () => {
  const marks = async (store: RefusalStore, steps: readonly RefusalMark[]) => {
    for (const one of steps) await store.put(one);
    return Promise.all(['m1', 'm2'].map((mac) => store.get(mac)));
  };
  await fc.assert(
    fc.asyncProperty(fc.array(markStep, { maxLength: 6 }), async (steps) => {
      const { client, sent } = interpretedDynamo('credentialsMac');
      const kept = await marks(dynamoRefusalStore(client, 'T'), steps);
      expect(kept).toEqual(await marks(memoryRefusalStore(), steps));
      expect(sent.at(-1)).toMatchObject({ input: { ConsistentRead: true } });
    }),
    { numRuns: 300 },
  );
});

test('reads of a request are consistent: one that was just put must not count as lost', async () => {
  const { client, sent } = interpretedDynamo('requestId');
  await dynamoRequestStore(client, 'T').get('request');
  expect(sent[0]).toMatchObject({ input: { ConsistentRead: true } });
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
