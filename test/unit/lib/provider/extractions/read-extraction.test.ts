import { describe, expect, test } from 'vitest';
import { readExtraction } from '#lib/provider/extractions/read-extraction.ts';
import * as provider from '#lib/provider/index.ts';
import { ProviderAmbiguous, ProviderRefused } from '#lib/provider/transport/errors.ts';
import { answering } from '../../../../support/data/canned-connection.ts';

test('an extraction by consent is started and polled, in either variant', async () => {
  const data = [
    { date: '2026-01-31', amount: 1, currency: 'CLP', originAccount: '1', destinationAccount: '2' },
  ];
  const finished = { taskStatus: 'success', taskStatusCode: 200, results: data, data };
  const connection: provider.Connection = {
    baseUrl: 'https://provider.example',
    fetch: async (url, { method }) => {
      if (method === 'GET' || url.endsWith('/retrieve-data')) return Response.json(finished);
      return Response.json(url.includes('/v1/') ? { taskId: 'task-1' } : { data: { taskId: 'task-2' } });
    },
    totalTimeoutMs: 20_000,
    maxAnswerBytes: 65_536,
  };
  const order = { product: 'movement', consentId: '0a1b2c3d-0000-4000-8000-000000000001' } as const;
  const first = await provider.startExtraction(connection, 'task-token', order);
  expect(await provider.pollExtraction(connection, 'task-token', first)).toMatchObject({ results: data });
  expect(await provider.waitForExtraction(connection, 'task-token', first)).toMatchObject({ results: data });
  const second = await provider.startExtractionV2(connection, 'task-token', order);
  expect(await provider.pollExtractionV2(connection, 'task-token', second)).toMatchObject({ data });
  expect(await provider.waitForExtractionV2(connection, 'task-token', second)).toMatchObject({ data });
  expect(await provider.retrieveData(connection, 'task-token', order)).toMatchObject({ data });
  expect([provider.isMovementItem(data[0]), provider.isTefRecipient(data[0])]).toEqual([true, false]);
});

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
    for (const status of errorStatuses) {
      const answer: unknown = await read(variant, status, body).catch(() => 'nothing');
      expect(answer, `${status}`).toEqual(endsIt(status) ? failed : 'nothing');
    }
  });

  test('that has failed may do without an errorCode', async () => {
    const failed = { kind: 'failed', errorType: 'CONSENT' };
    expect(await read(variant, 422, { errorType: 'CONSENT' })).toStrictEqual(failed);
  });

  test.each([
    ['422 without an errorType', 422, { message: 'no' }, ProviderRefused],
    ['422 that is no JSON', 422, '<html>', ProviderRefused],
    ['3xx', 302, { errorType: 'MOVED' }, ProviderAmbiguous],
    ['200 that cannot be read', 200, '{"data": ', ProviderAmbiguous],
    ['200 without a body', 200, '', ProviderAmbiguous],
  ])('that is answered %s shows nothing of the task', async (_what, status, body, error) => {
    await expect(read(variant, status, body)).rejects.toThrow(error);
  });
});

const success = ' {"taskStatus":"success" ,"taskStatusCode":200,"results":[1.10]}\n';

test.each<[Variant, string, object]>([
  ['v1', success, { taskStatus: 'success', taskStatusCode: 200, data: [1.1] }],
  ['v1', '{"taskStatus":"error","taskStatusCode":"401"}', { taskStatus: 'error' }],
  ['v1', '\uFEFF{"results":[1],"data":[2]}', { data: [1] }],
  ['v1', 'null', {}],
  ['v2', ' {"data": [ ]}', { data: [] }],
  ['v2', '\uFEFF{"data":"later","results":[1],"taskStatus":"success"}', { data: 'later' }],
  ['v2', '[]', {}],
])('a 200 of %s has ended, whatever its data are, and is given with its bytes: %s', async (...row) => {
  const [variant, text, given] = row;
  const answer = { kind: 'answered', bytes: Buffer.from(text), ...given };
  expect(await read(variant, 200, text)).toEqual(answer);
});

test.each(variants)('a 200 of %s over the cap has ended, and a 202 over the cap has not', async (variant) => {
  const long = JSON.stringify({ taskStatus: 'success', data: ['x'.repeat(70_000)] });
  expect(await read(variant, 200, long)).toEqual({ kind: 'too-large' });
  expect(await read(variant, 202, long)).toEqual({ kind: 'in-progress' });
});

test.each([
  [503, ProviderAmbiguous],
  [404, ProviderRefused],
])('an error in a %i about the poll has a name, and no effect', async (status, error) => {
  const named = { errorType: 'INTERNAL', errorCode: 'X' };
  const failure: unknown = await read('v1', status, named).catch((one) => one);
  expect(failure).toBeInstanceOf(error);
  expect(failure).toMatchObject({ status, named });
});
