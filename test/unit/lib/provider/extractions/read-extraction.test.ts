import { describe, expect, test } from 'vitest';
import { readExtraction } from '../../../../../lib/provider/extractions/read-extraction.ts';
import {
  ProviderAmbiguous,
  ProviderBusy,
  ProviderRefused,
  ProviderUnauthorized,
} from '../../../../../lib/provider/transport/errors.ts';
import { answering } from '../../../../support/data/canned-connection.ts';

const variants = ['v1', 'v2'] as const;
type Variant = (typeof variants)[number];

const errorStatuses = Array.from({ length: 200 }, (_, index) => 400 + index);

/** A token's, a limit's, a gateway's answer: none of them says how the extraction ended. */
const endsIt = (status: number): boolean => status < 500 && ![401, 403, 404, 408, 425, 429].includes(status);

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

  test('ends it with an errorType only where the status is of the extraction, not of the poll', async () => {
    const failed = { kind: 'failed', errorType: 'ENTITY', errorCode: 'DOWN' };
    const body = { errorType: 'ENTITY', errorCode: 'DOWN', message: 'variable text' };
    const answers = await Promise.all(
      errorStatuses.map(async (status) => {
        const answer: unknown = await read(variant, status, body).catch(() => 'nothing');
        return { status, answer };
      }),
    );
    expect(answers).toEqual(
      errorStatuses.map((status) => ({ status, answer: endsIt(status) ? failed : 'nothing' })),
    );
  });

  test('that has failed may do without an errorCode', async () => {
    expect(await read(variant, 422, { errorType: 'CONSENT' })).toEqual({
      kind: 'failed',
      errorType: 'CONSENT',
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
    ['200 without a body', 200, '', ProviderAmbiguous],
  ])('that is answered %s shows nothing of the task', async (_what, status, body, error) => {
    await expect(read(variant, status, body)).rejects.toThrow(error);
  });
});

describe.each(variants)('a 200 of %s', (variant) => {
  test.each([[{}], [[]], [null], [7], ['text'], [{ errors: [] }]])(
    'without data has ended: %j',
    async (body) => {
      const text = JSON.stringify(body);
      expect(await read(variant, 200, text)).toMatchObject({ kind: 'answered', bytes: Buffer.from(text) });
    },
  );

  test('that begins with a byte order mark is read, and kept with it', async () => {
    const text = '\uFEFF{"taskStatus":"success","results":[1],"data":[1]}';
    expect(await read(variant, 200, text)).toMatchObject({ data: [1], bytes: Buffer.from(text) });
  });

  test('over the cap has ended, and a 202 over the cap has not', async () => {
    const long = JSON.stringify({ taskStatus: 'success', data: ['x'.repeat(70_000)] });
    expect(await read(variant, 200, long)).toEqual({ kind: 'too-large' });
    expect(await read(variant, 202, long)).toEqual({ kind: 'in-progress' });
  });
});

test('of v1, status, data and the very bytes are given', async () => {
  const body = ' {"taskStatus":"success" ,"taskStatusCode":200,"results":[{"a":1.10}]}\n';
  expect(await read('v1', 200, body)).toEqual({
    kind: 'answered',
    taskStatus: 'success',
    taskStatusCode: 200,
    data: [{ a: 1.1 }],
    bytes: Buffer.from(body),
  });
});

test.each([
  [401, 401],
  ['401', undefined],
  [null, undefined],
])('of v1, the code %j is given as %j', async (taskStatusCode, given) => {
  const answer = await read('v1', 200, { taskStatus: 'error', taskStatusCode });
  expect(answer).toMatchObject({ kind: 'answered', taskStatus: 'error', taskStatusCode: given });
});

test.each([
  [503, ProviderAmbiguous],
  [404, ProviderRefused],
])('an error in a %i about the poll has a name, and no effect', async (status, error) => {
  const failure: unknown = await read('v1', status, { errorType: 'INTERNAL', errorCode: 'X' }).catch(
    (one) => one,
  );
  expect(failure).toBeInstanceOf(error);
  expect(failure).toMatchObject({ status, named: { errorType: 'INTERNAL', errorCode: 'X' } });
});

test('of v2, data and the very bytes are given', async () => {
  const body = ' {"data": [ ]}';
  expect(await read('v2', 200, body)).toEqual({ kind: 'answered', data: [], bytes: Buffer.from(body) });
});

test('nothing is asked of the data', async () => {
  expect(await read('v1', 200, { taskStatus: 'success' })).toMatchObject({ taskStatus: 'success' });
  expect(await read('v2', 200, { data: 'later' })).toMatchObject({ data: 'later' });
});
