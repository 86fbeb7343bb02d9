import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TaskRequest } from '../../../../../lib/provider/tasks/check-task-request.ts';
import { parseActionResults } from '../../../../../lib/provider/tasks/parse-action-results.ts';
import { readTask } from '../../../../../lib/provider/tasks/read-task.ts';
import { startTask } from '../../../../../lib/provider/tasks/start-task.ts';
import { ProviderAmbiguous } from '../../../../../lib/provider/transport/errors.ts';
import { answering } from '../../../../support/data/canned-connection.ts';
import { errorText } from '../../../../support/data/error-text.ts';

test('id, status and error code of each action are kept, in order', () => {
  const results = {
    username: 'u',
    entityId: 'bank',
    actions: [
      { id: 'product-balance', status: 'COMPLETED', output: { balance: 7 } },
      { id: 'movement', status: 'FAILED', output: null, error: { code: 'TIMEOUT_ERROR', message: 'slow' } },
    ],
  };
  expect(parseActionResults('PARTIAL', results)).toEqual({
    kind: 'actions',
    actions: [
      { id: 'product-balance', status: 'COMPLETED' },
      { id: 'movement', status: 'FAILED', errorCode: 'TIMEOUT_ERROR' },
    ],
  });
});

test('output and message never pass, whatever is in them', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (output, message) => {
      const action = { id: 'tef', status: 'FAILED', output, error: { code: 'ACTION_ERROR', message } };
      expect(parseActionResults('PARTIAL', { actions: [action] })).toEqual({
        kind: 'actions',
        actions: [{ id: 'tef', status: 'FAILED', errorCode: 'ACTION_ERROR' }],
      });
    }),
  );
});

test('an error of null is none', () => {
  const results = { actions: [{ id: 'tef', status: 'COMPLETED', error: null }] };
  expect(parseActionResults('PARTIAL', results)).toEqual({
    kind: 'actions',
    actions: [{ id: 'tef', status: 'COMPLETED' }],
  });
});

test.each(['CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'])('null is no results for %s', (taskStatus) => {
  expect(parseActionResults(taskStatus, null)).toEqual({ kind: 'none' });
});

test.each(['COMPLETED', 'PARTIAL', 'FAILED'])('null is a shape that nobody knows for %s', (taskStatus) => {
  expect(parseActionResults(taskStatus, null)).toEqual({ kind: 'unexpected' });
});

test.each([
  undefined,
  'later',
  [],
  {},
  { actions: null },
  { actions: ['tef'] },
  { actions: [{ id: 'tef' }] },
  { actions: [{ id: 7, status: 'COMPLETED' }] },
  { actions: [{ id: 'tef', status: 'FAILED', error: 'broken' }] },
  { actions: [{ id: 'tef', status: 'FAILED', error: { message: 'no code' } }] },
])('%j is a shape that nobody knows', (results) => {
  expect(parseActionResults('PARTIAL', results)).toEqual({ kind: 'unexpected' });
});

test('whatever the provider sends, nothing is thrown', () => {
  fc.assert(
    fc.property(fc.anything(), (results) => {
      expect(['none', 'actions', 'unexpected']).toContain(parseActionResults('PARTIAL', results).kind);
    }),
  );
});

const reading = (body: string) => readTask(answering(() => ({ body })).connection, 'session', 'task-1');

test('status, results and the very bytes are given', async () => {
  const body = ' {"taskStatus" : "COMPLETED","results":{"actions":[]},"new":1}\n';
  const read = await reading(body);
  expect(read).toMatchObject({ taskStatus: 'COMPLETED', results: { actions: [] } });
  expect(Buffer.from(read.bytes).toString()).toBe(body);
});

test.each([
  ['null', '{"taskStatus":"CREDENTIALS_WRONG","results":null}', null],
  ['absent', '{"taskStatus":"PENDING"}', undefined],
  ['of a shape that nobody knows', '{"taskStatus":"COMPLETED","results":"later"}', 'later'],
])('results may be %s', async (_what, body, results) => {
  expect((await reading(body)).results).toEqual(results);
});

test('an error names the route, not the task', async () => {
  const { connection } = answering(() => ({ status: 404 }));
  const failure = await readTask(connection, 'session', 'SENTINEL').catch((error: unknown) => error);
  expect(errorText(failure)).toContain('/api/v2/tasks/{taskId}');
  expect(errorText(failure)).not.toContain('SENTINEL');
});

const request: TaskRequest = {
  entity: 'bank',
  credentials: { mode: 'raw', value: { username: 'u', password: 'p', businessId: 7 } },
  actions: [
    { id: 'product-balance' },
    { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
  ],
  webhook: { enable: true, retries: 5 },
};

test('a taskId of 100 characters is one', async () => {
  const { connection } = answering(() => ({ body: JSON.stringify({ taskId: 'x'.repeat(100) }) }));
  expect(await startTask(connection, 'session', request)).toHaveLength(100);
});

describe('a 2xx without a valid taskId is ambiguous, as a task may exist; the error never quotes it', () => {
  test.each([
    ['a taskId of null', '{"taskId":null,"x":"SENTINEL"}'],
    ['an empty taskId', '{"taskId":"","x":"SENTINEL"}'],
    ['a taskId of 101 characters', JSON.stringify({ taskId: 'SENTINEL'.padEnd(101, 'x') })],
    ['a taskId inside data', '{"data":{"taskId":"SENTINEL"}}'],
  ])('%s', async (_what, body) => {
    const { connection } = answering(() => ({ body }));
    const failure = await startTask(connection, 'session', request).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProviderAmbiguous);
    expect(errorText(failure)).not.toContain('SENTINEL');
    expect((failure as Error).cause).toBeUndefined();
  });
});
