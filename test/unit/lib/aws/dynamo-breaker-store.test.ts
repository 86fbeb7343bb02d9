import { expect, test } from 'vitest';
import { dynamoBreakerStore } from '../../../../lib/aws/dynamo-breaker-store.ts';
import { closedBreaker, pause } from '../../../../lib/breaker/breaker-state.ts';
import type { BreakerStore } from '../../../../lib/breaker/breaker-store.ts';
import { interpretedDynamo } from '../../../support/interpreted-dynamo.ts';
import { memoryBreakerStore } from '../../../support/memory-breaker-store.ts';

const overDynamo = (): BreakerStore => dynamoBreakerStore(interpretedDynamo('name').client, 'T');

const one = { state: { failures: [1, 2] }, version: 'one' };
const two = {
  state: pause({ failures: [], opened: { since: 1, until: 2, seconds: 3 } }, 'why', 4),
  version: 'two',
};

test.each([
  ['DynamoDB', overDynamo],
  ['memory', memoryBreakerStore],
])('a breaker is replaced only if nobody else replaced it, on %s', async (_, newStore) => {
  const store = newStore();
  expect(await store.read('starts')).toEqual({ state: closedBreaker });
  expect(await store.replace('starts', { state: closedBreaker }, one)).toEqual(one);
  expect(await store.replace('starts', { state: closedBreaker }, two)).toMatchObject(one);
  expect(await store.replace('starts', one, two)).toEqual(two);
  expect(await store.replace('starts', one, one)).toMatchObject(two);
  expect(await store.read('starts')).toMatchObject(two);
  expect(await store.read('reads')).toEqual({ state: closedBreaker });
});
