import { type DynamoDBClient, GetItemCommand, type PutItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { dynamoBreakerStore } from '../../../../lib/aws/dynamo-breaker-store.ts';
import { closedBreaker, pause } from '../../../../lib/breaker/breaker-state.ts';
import type { BreakerStore } from '../../../../lib/breaker/breaker-store.ts';
import { interpretedDynamo } from '../../../support/interpreted-dynamo.ts';
import { memoryBreakerStore } from '../../../support/memory-breaker-store.ts';

const overDynamo = (): BreakerStore => dynamoBreakerStore(interpretedDynamo('name').client, 'T');

const one = { state: { count: 2, failing: ['a', 'b'] }, version: 'one' };
const two = {
  state: pause({ ...closedBreaker, opened: { since: 1, until: 2, seconds: 3, groups: { bank: { until: 4, seconds: 3 } } } }, 'why', 4),
  version: 'two',
};

test.each([
  ['DynamoDB', overDynamo],
  ['memory', memoryBreakerStore],
])('a breaker is replaced only if nobody else replaced it, on %s', async (_, newStore) => {
  const store = newStore();
  expect(await store.read('starts')).toBeUndefined();
  expect(await store.replace('starts', undefined, one)).toEqual(one);
  expect(await store.replace('starts', undefined, two)).toMatchObject(one);
  expect(await store.replace('starts', one.version, two)).toEqual(two);
  expect(await store.replace('starts', one.version, one)).toMatchObject(two);
  expect(await store.read('starts')).toMatchObject(two);
  expect(await store.read('reads')).toBeUndefined();
});

test('a damaged item can be read and replaced, whatever its numbers and its version', async () => {
  const sent: PutItemCommand[] = [];
  const Item = { name: { S: 'starts' }, state: { N: '1e300' }, version: { N: '7' } };
  const client = {
    send: async (command: GetItemCommand | PutItemCommand) =>
      command instanceof GetItemCommand ? { Item } : void sent.push(command),
  };
  const store = dynamoBreakerStore(client as unknown as DynamoDBClient, 'T');
  expect(await store.read('starts')).toMatchObject({ state: 1e300, version: 7 });
  expect(await store.replace('starts', 7, one)).toEqual(one);
  expect(sent[0]?.input.ExpressionAttributeValues).toEqual({ ':version': { N: '7' } });
});
