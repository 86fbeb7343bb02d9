import { describe, expect, test } from 'vitest';
import { readTask } from '../../../../../lib/provider/tasks/read-task.ts';
import { ProviderAmbiguous } from '../../../../../lib/provider/transport/errors.ts';
import { answering } from '../../../../support/canned-connection.ts';
import { errorText } from '../../../../support/error-text.ts';

const reading = (body: string) => readTask(answering(() => ({ body })).connection, 'session', 'task-1');

test('a task is read by its id under the session token', async () => {
  const { connection, calls } = answering(() => ({ body: '{"taskStatus":"RUNNING"}' }));
  await readTask(connection, 'session', 'task-1');
  expect(calls[0]).toMatchObject({
    url: 'https://provider.example/api/v2/tasks/task-1',
    method: 'GET',
    headers: { authorization: 'Bearer session' },
  });
  expect(calls[0]?.body).toBeUndefined();
});

test('an id cannot lead to another path', async () => {
  const { connection, calls } = answering(() => ({ body: '{"taskStatus":"RUNNING"}' }));
  await readTask(connection, 'session', '../auth/login?a=b#c d');
  expect(calls[0]?.url).toBe('https://provider.example/api/v2/tasks/..%2Fauth%2Flogin%3Fa%3Db%23c%20d');
});

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

test('a status that nobody documented is given as it is', async () => {
  expect((await reading('{"taskStatus":"PAUSED"}')).taskStatus).toBe('PAUSED');
});

describe('an answer that cannot be understood is an error that never quotes it', () => {
  test.each([
    '',
    '<html>SENTINEL</html>',
    '{"taskStatus":"SENTINEL',
    '{"taskStatus":7,"x":"SENTINEL"}',
    '[]',
    'null',
  ])('%j', async (body) => {
    const failure = await reading(body).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProviderAmbiguous);
    expect(errorText(failure)).not.toContain('SENTINEL');
  });
});

test('an error names the route, not the task', async () => {
  const { connection } = answering(() => ({ status: 404 }));
  const failure = await readTask(connection, 'session', 'SENTINEL').catch((error: unknown) => error);
  expect(errorText(failure)).toContain('/api/v2/tasks/{taskId}');
  expect(errorText(failure)).not.toContain('SENTINEL');
});
