import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as provider from '#lib/provider/index.ts';
import { parseActionResults, readTask } from '#lib/provider/tasks/read-task.ts';
import { startTask, type TaskRequest } from '#lib/provider/tasks/start-task.ts';
import { ProviderAmbiguous } from '#lib/provider/transport/errors.ts';
import { answering } from '../../../../support/data/canned-connection.ts';
import { errorText } from '../../../../support/data/text-of-error.ts';

test('a task is started, and read until it has ended', async () => {
  const results = { username: 'u', entityId: 'demo-bank', actions: [{ id: 'tef', status: 'COMPLETED' }] };
  const connection: provider.Connection = {
    baseUrl: 'https://provider.example',
    fetch: async (_url, { method }) =>
      Response.json(method === 'POST' ? { taskId: 'task-1' } : { taskStatus: 'COMPLETED', results }),
    totalTimeoutMs: 20_000,
    maxAnswerBytes: 65_536,
  };
  const taskId = await provider.startTask(connection, 'session', {
    entity: 'demo-bank',
    credentials: { mode: 'raw', value: { username: 'u', password: 'p' } },
    actions: [{ id: 'tef' }],
  });
  // `readTask` also has the bytes, and `readTypedTask` checks the results.
  const { taskStatus, bytes } = await provider.readTask(connection, 'session', taskId);
  expect([taskStatus, JSON.parse(Buffer.from(bytes).toString())]).toEqual([
    'COMPLETED',
    { taskStatus, results },
  ]);
  const task = await provider.readTypedTask(connection, 'session', taskId);
  expect(task.results).toEqual(results);
  expect([provider.isTaskOver('RUNNING'), provider.isTerminalTaskStatus('COMPLETED')]).toEqual([false, true]);
});

test('id, status and error code of each action are kept, in order, whatever output and message are', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (output, message) => {
      const actions = [
        { id: 'product-balance', status: 'COMPLETED', output, error: null },
        { id: 'movement', status: 'FAILED', output, error: { code: 'TIMEOUT_ERROR', message } },
      ];
      expect(parseActionResults('PARTIAL', { username: 'u', entityId: 'bank', actions })).toStrictEqual({
        kind: 'actions',
        actions: [
          { id: 'product-balance', status: 'COMPLETED' },
          { id: 'movement', status: 'FAILED', errorCode: 'TIMEOUT_ERROR' },
        ],
      });
    }),
  );
});

test.each([
  ['CREDENTIALS_WRONG', 'none'],
  ['CREDENTIALS_LOCKED', 'none'],
  ['COMPLETED', 'unexpected'],
  ['PARTIAL', 'unexpected'],
  ['FAILED', 'unexpected'],
])('null for %s is %s', (taskStatus, kind) => {
  expect(parseActionResults(taskStatus, null)).toEqual({ kind });
});

test.each([
  undefined,
  { actions: [{ id: 7, status: 'COMPLETED' }] },
  { actions: [{ id: 'tef', status: 'FAILED', error: { message: 'no code' } }] },
])('%j is a shape that nobody knows', (results) => {
  expect(parseActionResults('PARTIAL', results)).toEqual({ kind: 'unexpected' });
});

const reading = (body: string) => readTask(answering(() => ({ body })).connection, 'session', 'task-1');

test.each([
  ['null', '{"taskStatus":"CREDENTIALS_WRONG","results":null}', null],
  ['absent', '{"taskStatus":"PENDING"}', undefined],
  ['of a shape that nobody knows', ' {"taskStatus" : "COMPLETED","results":"later","new":1}\n', 'later'],
])('results may be %s, and the very bytes are given', async (_what, body, results) => {
  const { taskStatus } = JSON.parse(body);
  expect(await reading(body)).toEqual({ taskStatus, results, bytes: Buffer.from(body) });
});

test('an error names the route, not the task', async () => {
  const { connection } = answering(() => ({ status: 404 }));
  const failure = await readTask(connection, 'session', 'SENTINEL').catch((error: unknown) => error);
  expect(errorText(failure)).toContain('/api/v2/tasks/{taskId}');
  expect(errorText(failure)).not.toContain('SENTINEL');
});

const request: TaskRequest = {
  entity: 'bank',
  credentials: { mode: 'raw', value: { username: 'u', password: 'p' } },
  actions: [{ id: 'tef' }],
};
const starting = (taskId: string) => {
  const { connection } = answering(() => ({ body: JSON.stringify({ taskId }) }));
  return startTask(connection, 'session', request);
};

test('a taskId of 100 characters is one', async () => {
  expect(await starting('x'.repeat(100))).toHaveLength(100);
});

test.each(['', 'SENTINEL'.padEnd(101, 'x'), '..', '\ud800'])(
  'a 2xx with the taskId %j is ambiguous, as a task may exist; the error never quotes it',
  async (taskId) => {
    const failure = await starting(taskId).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProviderAmbiguous);
    expect(errorText(failure)).not.toContain('SENTINEL');
  },
);
