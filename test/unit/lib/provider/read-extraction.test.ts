import { describe, expect, test } from 'vitest';
import {
  ProviderAmbiguous,
  ProviderBusy,
  ProviderRefused,
  ProviderUnauthorized,
} from '../../../../lib/provider/errors.ts';
import { readExtraction } from '../../../../lib/provider/read-extraction.ts';
import { answering } from './canned-connection.ts';

const variants = ['v1', 'v2'] as const;
type Variant = (typeof variants)[number];

const read = (variant: Variant, status: number, body: unknown) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { connection } = answering(() => ({ status, body: text }));
  return readExtraction(connection, 'task-token', { variant, taskId: 'task-1' });
};

describe.each(variants)('a poll of %s', (variant) => {
  test('is made of its own endpoint, under the Task Token', async () => {
    const { connection, calls } = answering(() => ({ status: 202 }));
    await readExtraction(connection, 'task-token', { variant, taskId: 'a/b' });
    expect(calls).toMatchObject([
      {
        method: 'GET',
        url: `https://provider.example/api/${variant}/products/retrieve-data/tasks/a%2Fb`,
        headers: { authorization: 'Bearer task-token' },
      },
    ]);
  });

  test.each([{ taskStatus: 'pending', taskStatusCode: 202 }, '', '<html>'])(
    'that is answered 202 is of a task in progress, whatever the body: %j',
    async (body) => {
      expect(await read(variant, 202, body)).toEqual({ kind: 'in-progress' });
    },
  );

  test.each([
    [400, { errorType: 'CONSENT' }],
    [404, { errorType: 'TASK', errorCode: 'TASK_NOT_FOUND' }],
    [502, { errorType: 'ENTITY', errorCode: 'DOWN', message: 'variable text' }],
  ])('that is answered %i with an errorType has failed', async (status, body) => {
    const { errorType, errorCode } = body as { errorType: string; errorCode?: string };
    expect(await read(variant, status, body)).toEqual({
      kind: 'failed',
      errorType,
      ...(errorCode === undefined ? {} : { errorCode }),
    });
  });

  test.each([
    ['401', 401, { errorType: 'UNAUTHORIZED' }, ProviderUnauthorized],
    ['429, which is about the poll', 429, { errorType: 'LIMIT' }, ProviderBusy],
    ['404 without an errorType', 404, { message: 'no' }, ProviderRefused],
    ['403 that is no JSON', 403, '<html>', ProviderRefused],
    ['503', 503, '', ProviderAmbiguous],
    ['3xx', 302, { errorType: 'MOVED' }, ProviderAmbiguous],
    ['200 that cannot be read', 200, '{"data": ', ProviderAmbiguous],
    ['200 that says nothing', 200, {}, ProviderAmbiguous],
  ])('that is answered %s told nothing of the task', async (_what, status, body, error) => {
    await expect(read(variant, status, body)).rejects.toThrow(error);
  });
});

test('of v1, status, data and the very bytes are given', async () => {
  const body = ' {"taskStatus":"success" ,"taskStatusCode":200,"results":[{"a":1.10}]}\n';
  expect(await read('v1', 200, body)).toEqual({
    kind: 'answered',
    taskStatus: 'success',
    data: [{ a: 1.1 }],
    bytes: Buffer.from(body),
  });
});

test('of v2, data and the very bytes are given', async () => {
  const body = ' {"data": [ ]}';
  expect(await read('v2', 200, body)).toEqual({ kind: 'answered', data: [], bytes: Buffer.from(body) });
});

test('nothing is asked of the data', async () => {
  expect(await read('v1', 200, { taskStatus: 'success' })).toMatchObject({ taskStatus: 'success' });
  expect(await read('v2', 200, { data: 'later' })).toMatchObject({ data: 'later' });
});
