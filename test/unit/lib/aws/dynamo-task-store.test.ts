import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dynamoTaskStore } from '../../../../lib/aws/dynamo-task-store.ts';
import type { Task, TaskStore } from '../../../../lib/extraction/store.ts';
import { at, clock } from '../../../support/extraction-fixtures.ts';
import { interpretedDynamo } from '../../../support/interpreted-dynamo.ts';
import { memoryTaskStore } from '../../../support/memory-task-store.ts';

const dynamo = () => {
  const table = interpretedDynamo('taskId');
  return { ...table, store: dynamoTaskStore(table.client, 'T', () => at(0)) };
};

const withoutTtl = ({ expiresAt: _expiresAt, ...task }: Task & { readonly expiresAt?: number }): Task => task;

const step = fc.oneof(
  fc.record({
    call: fc.constant('link' as const),
    extractionId: fc.constantFrom('e1', 'e2'),
    callbackAttempt: fc.nat(3),
    callbackToken: fc.constantFrom('t1', 't2', 't3'),
  }),
  fc.record({
    call: fc.constant('notify' as const),
    taskStatus: fc.constantFrom('COMPLETED', 'FAILED'),
    notifiedAt: fc.constantFrom('n1', 'n2'),
  }),
  fc.record({ call: fc.constant('adopt' as const), extractionId: fc.constantFrom('e1', 'e2') }),
);

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
      answers.push(withoutTtl(await store.notify({ taskId: 'task', ...one })));
    }
  }
  const row = await store.get('task');
  return { answers, row: row === undefined ? undefined : withoutTtl(row) };
};

test('any order of links, deliveries and adoptions leaves the same in DynamoDB as in memory', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      expect(await run(memoryTaskStore(), steps)).toEqual(await run(dynamo().store, steps));
    }),
    { numRuns: 300 },
  );
});

test('a task is unknown until somebody links or notifies it', async () => {
  expect(await dynamo().store.get('task')).toBeUndefined();
});

test('the first status stays, and with it when it came', async () => {
  const { store } = dynamo();
  await store.notify({ taskId: 'task', taskStatus: 'COMPLETED', notifiedAt: 'first' });
  expect(await store.notify({ taskId: 'task', taskStatus: 'FAILED', notifiedAt: 'second' })).toMatchObject({
    taskStatus: 'COMPLETED',
    notifiedAt: 'first',
  });
});

test('a younger token replaces an older one, never the other way round', async () => {
  const { store } = dynamo();
  const link = { taskId: 'task', extractionId: 'e' };
  await store.link({ ...link, callbackToken: 'second', callbackAttempt: 2 });
  expect(await store.link({ ...link, callbackToken: 'first', callbackAttempt: 1 })).toMatchObject({
    linked: false,
    task: { extractionId: 'e', callbackToken: 'second' },
  });
  expect(await store.link({ ...link, callbackToken: 'redriven', callbackAttempt: 1000 })).toMatchObject({
    linked: true,
    task: { callbackToken: 'redriven' },
  });
});

test('a task that is linked to one extraction is never linked to another', async () => {
  const { store } = dynamo();
  await store.link({ taskId: 'task', extractionId: 'mine', callbackToken: 'mine', callbackAttempt: 0 });
  expect(
    await store.link({ taskId: 'task', extractionId: 'other', callbackToken: 'other', callbackAttempt: 9 }),
  ).toMatchObject({ linked: false, task: { extractionId: 'mine', callbackToken: 'mine' } });
});

test('an adopted task is linked without a token, and takes the first one that is left', async () => {
  const { store } = dynamo();
  expect(withoutTtl(await store.adopt('task', 'mine'))).toEqual({ taskId: 'task', extractionId: 'mine' });
  expect(
    await store.link({ taskId: 'task', extractionId: 'mine', callbackToken: 'first', callbackAttempt: 0 }),
  ).toMatchObject({ linked: true, task: { callbackToken: 'first' } });
});

test('adopting leaves a link that is there, and the status that a webhook left', async () => {
  const { store } = dynamo();
  await store.notify({ taskId: 'task', taskStatus: 'COMPLETED', notifiedAt: 'n' });
  await store.adopt('task', 'theirs');
  expect(await store.adopt('task', 'mine')).toMatchObject({
    extractionId: 'theirs',
    taskStatus: 'COMPLETED',
  });
});

test('whatever is written first, and after it, a row has 30 days to live from then on', async () => {
  const ofThatTask = fc.tuple(step, fc.array(step, { maxLength: 4 }));
  await fc.assert(
    fc.asyncProperty(ofThatTask, async ([first, others]) => {
      const table = interpretedDynamo('taskId');
      const time = clock();
      const store = dynamoTaskStore(table.client, 'T', time.now);
      for (const one of [first, ...others]) {
        await run(store, [one]);
        expect(table.rows.get('task')?.expiresAt).toBe(at(0).getTime() / 1000 + 30 * 86_400);
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
