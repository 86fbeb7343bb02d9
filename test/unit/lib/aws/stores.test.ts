import { readdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import {
  type BatchGetItemCommandInput,
  ConditionalCheckFailedException,
  DynamoDBClient,
  type ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dynamoBreakerStore, listBreakers } from '#lib/aws/dynamo-breaker-store.ts';
import { dynamoExtractionStore } from '#lib/aws/dynamo-extraction-store.ts';
import { countInLine, dynamoStartLine } from '#lib/aws/dynamo-start-line.ts';
import { dynamoTaskStore } from '#lib/aws/dynamo-task-store.ts';
import { readItems } from '#lib/aws/items.ts';
import type { TaskStore } from '#lib/extraction/store.ts';
import { pausesItem } from '#lib/shared-item/operator-settings.ts';
import { fail, stubClient } from '../../../support/aws/stub-client.ts';
import { extraction, iso } from '../../../support/data/extraction-fixtures.ts';
import { compareCalls, comparedStores } from '../../../support/stores/compared-stores.ts';
import { interpretedDynamo } from '../../../support/stores/interpreted-dynamo.ts';
import { taskExpiry } from '../../../support/stores/memory-task-store.ts';

test('every store of lib/aws, and every method of it, is compared', async () => {
  const folder = new URL('../../../../lib/aws/', import.meta.url);
  const names = readdirSync(folder).filter((file) => file.startsWith('dynamo-'));
  const modules = await Promise.all(names.map((file) => import(new URL(file, folder).href)));
  const exported = modules.flatMap((module) =>
    Object.keys(module).filter((name) => /^dynamo[A-Z]/.test(name)),
  );
  expect(comparedStores.flatMap(({ stores }) => stores.map(({ name }) => name)).toSorted()).toEqual(
    exported.toSorted(),
  );
  // The sweep's walk calls `due`.
  const called = [
    'due',
    ...comparedStores.flatMap(({ calls }) =>
      fc.sample(calls, { numRuns: 400, seed: 1 }).map(({ text }) => text.split('(')[0]),
    ),
  ];
  const methods = comparedStores.flatMap(({ onDynamo, table }) =>
    Object.keys(onDynamo(interpretedDynamo('').client, table)),
  );
  expect(methods.filter((name) => !called.includes(name))).toEqual([]);
});

test('an item of Breakers is read consistently where that is asked for', async () => {
  const { client, sent } = stubClient<DynamoDBClient>(() => ({}));
  await dynamoBreakerStore(client, 'T').read('name', 'strongly');
  await dynamoBreakerStore(client, 'T').read('name', 'eventually');
  expect(sent.map(({ input }) => input.ConsistentRead)).toEqual([true, false]);
});

const caller = 'arn:aws:iam::111122223333:role/orders';
const one = { state: { groups: [{ name: 'bank', failed: [['extraction-1', 1]] }] }, version: 'one' } as const;

test('a damaged item can be read and replaced, whatever its numbers and its version', async () => {
  const Item = { name: { S: caller }, state: { N: '1e300' }, version: { N: '7' } };
  const { client, sent } = stubClient<DynamoDBClient>(() => ({ Item }));
  const store = dynamoBreakerStore(client, 'T');
  expect(await store.read(caller, 'eventually')).toMatchObject({ state: 1e300, version: 7 });
  expect(await store.replace(caller, 7, one)).toEqual(one);
  expect(sent[1]?.input.ExpressionAttributeValues).toEqual({ ':version': { N: '7' } });
});

test('an item without a version, as somebody wrote it by hand, is replaced once', async () => {
  const { client, items } = interpretedDynamo('name');
  items.set(caller, { name: caller, state: {} });
  const store = dynamoBreakerStore(client, 'T');
  expect(await store.replace(caller, undefined, one)).toEqual(one);
  expect(items.get(caller)).toEqual({ name: caller, ...one });
  const two = { ...one, version: 'two' };
  expect(await store.replace(caller, undefined, two)).toMatchObject(one);
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

test.each([
  ['any other failure', new Error('throttled')],
  ['a refusal without the item', new ConditionalCheckFailedException({ message: 'refused', $metadata: {} })],
])('%s of a create is passed on: whether the write took effect is unknown', async (_what, error) => {
  const { client } = stubClient<DynamoDBClient>(() => fail(error));
  await expect(dynamoExtractionStore(client, 'T').create(extraction())).rejects.toBe(error);
});

// npm run second-opinion has these calls made of DynamoDB Local.
test.each(comparedStores)(
  'any order of calls has the same answers from $table in DynamoDB as in memory, and leaves the same items',
  async ({ table, key, onDynamo, inMemory, calls }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(calls, { minLength: 20, maxLength: 40, size: 'max' }), async (sequence) => {
        const dynamo = interpretedDynamo(key, { takesTurns: true });
        const memory = inMemory();
        await compareCalls(onDynamo(dynamo.client, table), memory, sequence);
        expect(memory.items).toStrictEqual(dynamo.items);
      }),
      { numRuns: 60 },
    );
  },
);

test('those in line are counted', async () => {
  const { client, items } = interpretedDynamo('extractionId');
  // The SDK's paginators take instances of the client's class only.
  Object.setPrototypeOf(client, DynamoDBClient.prototype);
  for (const extractionId of ['a', 'b']) items.set(extractionId, { extractionId, slot: 's', line: 'line' });
  items.set('released', { extractionId: 'released', slot: 's' });
  expect(await countInLine(client, 'T')).toBe(2);
});

test('a query of the line that ends at 1 MB goes on, until there is nobody, or as many as are wanted', async () => {
  const of = (slot: string) => ({ extractionId: slot, requestId: 'r', slot, callbackToken: 't' });
  const key = marshall({ slot: 'b' });
  const { client, sent } = stubClient<DynamoDBClient>(({ input: { Limit, ExclusiveStartKey } }) => {
    if (ExclusiveStartKey !== undefined) return { Items: [marshall(of('c'))] };
    const Items = ['a', 'b'].slice(0, Number(Limit)).map((slot) => marshall(of(slot)));
    return { Items, LastEvaluatedKey: key };
  });
  const store = dynamoStartLine(client, 'T');
  expect(await store.next('', 5)).toEqual(['a', 'b', 'c'].map(of));
  expect(sent.at(-1)?.input).toMatchObject({ Limit: 3, ExclusiveStartKey: key });
  expect(await store.next('', 2)).toEqual(['a', 'b'].map(of));
  expect(sent).toHaveLength(3);
});

test('the calls of many seconds are read 100 at a time, and again what a busy table left out', async () => {
  let left = true;
  const asked: number[] = [];
  const { client } = stubClient<DynamoDBClient>(({ input }) => {
    const { Keys = [] } = (input as unknown as BatchGetItemCommandInput).RequestItems?.T ?? {};
    asked.push(Keys.length);
    const unprocessed = left ? { UnprocessedKeys: { T: { Keys: Keys.slice(0, 1) } } } : {};
    left = false;
    return {
      Responses: {
        T: [
          marshall({
            ...(Keys[0] && unmarshall(Keys[0])),
            'accepted/7': 2,
            'refused/7': 1,
            'retryAt/7': 5,
            expiresAt: 9,
          }),
        ],
      },
      ...unprocessed,
    };
  });
  const counts = { accepted: 2, refused: 1, failed: 0, retryAt: 5 };
  expect(await dynamoStartLine(client, 'T').counts(1_000, 1_149)).toEqual(
    new Map([1_000, 1_100].map((second) => [second, new Map([['7', counts]])])),
  );
  expect(asked).toEqual([100, 1, 50]);
});

test('keys that a busy table leaves out are read again, after pauses that grow to 3.2 s', async () => {
  const done: (number | 'read')[] = [];
  const { client } = stubClient<DynamoDBClient>(() => {
    done.push('read');
    return done.length < 16 ? { UnprocessedKeys: { T: { Keys: [{}] } } } : {};
  });
  const pause = async (ms: number) => {
    await setImmediate();
    done.push(ms);
  };
  for await (const _ of readItems(client, { table: 'T' }, [{ id: 'one' }], pause)) expect.fail();
  const pauses = [100, 200, 400, 800, 1_600, 3_200, 3_200, 3_200];
  expect(done).toEqual(['read', ...pauses.flatMap((ms) => [ms, 'read'])]);
});

test('only the first write of a task decides when it expires, in whole seconds', async () => {
  const writes: readonly ((store: TaskStore) => Promise<unknown>)[] = [
    (store) => store.link({ taskId: 't', extractionId: 'e', callbackToken: 'c', callbackAttempt: 0 }),
    (store) => store.recordStatus({ taskId: 't', taskStatus: 'COMPLETED', notifiedAt: iso(0) }),
    (store) => store.adopt('t', 'e'),
  ];
  for (const first of writes) {
    let now = 999;
    const store = dynamoTaskStore(interpretedDynamo('taskId').client, 'T', () => new Date(now));
    await first(store);
    now += 3_600_000;
    for (const write of writes) await write(store);
    expect(await store.get('t')).toMatchObject({ expiresAt: taskExpiry });
  }
});
