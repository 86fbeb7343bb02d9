import { readFile } from 'node:fs/promises';
import vm from 'node:vm';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { extractionsClient } from '#lib/client/extractions-client.ts';
import { RepeatedPageError } from '#lib/client/find-extractions.ts';
import { problem } from '#lib/http/problem.ts';

test('an extraction is requested, its outcome is waited for and found again, and it is erased', async () => {
  const times = { settledAt: '2026-11-22T12:00:00.000Z', collectedAt: '2026-11-22T12:00:01.000Z' };
  const outcome = { extractionId: 'e-1', status: 'COMPLETED', ...times, advice: 'none' };
  const { requestExtraction, waitForOutcome, getExtraction, ...more } = extractionsClient({
    apiUrl: 'https://api.example',
    fetch: async (url, { method } = {}) => {
      if (url.includes('/erasures')) return Response.json({ erasureId: 'r-1' });
      if (method === 'POST') return Response.json({ extractionId: 'e-1', status: 'REQUESTED' });
      return Response.json(url.includes('?reference=') ? { extractions: [outcome] } : outcome);
    },
  });
  const credentials = { mode: 'raw', value: { username: 'u', password: 'p' } } as const;
  const order = { entity: 'demo-bank', credentials, actions: [{ id: 'tef' }], reference: 'order-7' } as const;
  const { extraction } = await requestExtraction(order, { idempotencyKey: 'order-7' });
  expect(await waitForOutcome(extraction.extractionId)).toEqual(outcome);
  expect(await getExtraction('e-1')).toEqual(outcome);
  for await (const found of more.findExtractions('order-7')) expect(found).toEqual(outcome);
  const { erasureId } = await more.erase({ extractionId: 'e-1' });
  expect(await more.getErasure(erasureId)).toEqual({ erasureId: 'r-1' });
});

const client = (answer: (url: string, init?: RequestInit) => Response | Promise<Response>) =>
  extractionsClient({ apiUrl: 'https://api.example/', fetch: async (url, init) => answer(url, init) });

test('an extraction that does not exist is undefined, and a missing route is an error', async () => {
  const { getExtraction } = client((url) =>
    url.endsWith('absent')
      ? new Response(problem('not-found').body, { status: 404 })
      : new Response('{"message":"Not Found"}', { status: 404 }),
  );
  expect(await getExtraction('absent')).toBeUndefined();
  await expect(getExtraction('e-1')).rejects.toMatchObject({ name: 'ApiError', status: 404 });
});

test('an erasure is asked for, and read under its id', async () => {
  const { erase, getErasure } = client((url, { body } = {}) =>
    url.endsWith('absent')
      ? new Response(problem('erasure-not-found').body, { status: 404 })
      : Response.json({ erasureId: url, asked: body }),
  );
  expect(await erase({ reference: 'r' })).toEqual({
    erasureId: 'https://api.example/erasures',
    asked: '{"reference":"r"}',
  });
  expect(await getErasure('a/b')).toEqual({ erasureId: 'https://api.example/erasures/a%2Fb' });
  expect(await getErasure('absent')).toBeUndefined();
});

test('extractions with a reference are read page by page', async () => {
  const urls: string[] = [];
  const { findExtractions } = client((url) => {
    urls.push(url);
    return Response.json(
      urls.length === 1
        ? { extractions: [{ extractionId: 'e-3' }, { extractionId: 'e-2' }], cursor: 'e/2' }
        : { extractions: [{ extractionId: 'e-1' }] },
    );
  });
  const found: string[] = [];
  for await (const { extractionId } of findExtractions('order 7+&')) found.push(extractionId);
  expect(found).toEqual(['e-3', 'e-2', 'e-1']);
  const first = 'https://api.example/extractions?reference=order%207%2B%26';
  expect(urls).toEqual([first, `${first}&cursor=e%2F2`]);
});

test.each([
  ['empty', [[]], 1],
  ['the same again', [['e-2', 'e-1']], 2],
  ['those of two pages in turn', [['e-2'], ['e-1']], 3],
])('pages that are %s and name another do not go on for ever', async (_, pages, asked) => {
  let calls = 0;
  const { findExtractions } = client(() => {
    const page = pages[calls++ % pages.length] ?? [];
    return Response.json({ extractions: page.map((extractionId) => ({ extractionId })), cursor: 'next' });
  });
  const read = async () => {
    for await (const _ of findExtractions('order-7'));
  };
  await expect(read()).rejects.toThrow(RepeatedPageError);
  expect(calls).toBe(asked);
});

test('a batch is found and counted by its name', async () => {
  const urls: string[] = [];
  const { findExtractions, summarizeBatch } = client((url) => {
    urls.push(url);
    return Response.json(url.includes('/summary') ? { open: 3 } : { extractions: [] });
  });
  for await (const _ of findExtractions({ batch: 'b 1' }));
  expect(await summarizeBatch('b 1')).toEqual({ open: 3 });
  const api = 'https://api.example/extractions';
  expect(urls).toEqual([`${api}?batch=b%201`, `${api}/summary?batch=b%201`]);
});

test('the sample of docs/api.md acts on an outcome whose results are collected late', async () => {
  const page = await readFile(new URL('../../../../docs/api.md', import.meta.url), 'utf8');
  const [, sample = ''] = /```ts\n *import \{ extractionsClient \}.*\n([\s\S]*?)```/.exec(page) ?? [];
  const outcome = { extractionId: 'e-1', status: 'FAILED', settledAt: '2026-11-22T12:00:00.000Z' };
  const collected = { ...outcome, collectedAt: '2026-11-22T12:00:01.000Z', advice: 'request-later' };
  const reads = [outcome, collected];
  const fetch = async (_url: string, init?: RequestInit) =>
    Response.json(init?.method === 'POST' ? { extractionId: 'e-1' } : reads.shift());
  const run = vm.compileFunction(`return (async () => {${sample}})()`, [
    'extractionsClient',
    'request',
    'retryInAnHour',
  ]);
  const retried: unknown[] = [];
  await run(
    (options: object) => extractionsClient({ apiUrl: '', ...options, fetch }),
    request,
    (one: unknown) => retried.push(one),
  );
  expect(retried).toEqual([collected]);
});

test('a signal ends the pause between two reads with its reason', async () => {
  const reason = new Error('enough');
  const stop = new AbortController();
  const { waitForOutcome } = client(() => {
    setImmediate(() => stop.abort(reason));
    return Response.json({ status: 'RUNNING' });
  });
  await expect(waitForOutcome('e-1', { signal: stop.signal })).rejects.toBe(reason);
});

const never = new Promise<never>(() => {});
const request = { entity: 'demo-bank', credentials: { mode: 'raw', value: {} }, actions: [] } as const;

describe.each([
  ['never answers', () => never],
  ['never ends its body', async () => new Response(new ReadableStream({ pull: () => never }))],
  ['fails', () => Promise.reject(new Error('reset'))],
])('with a fetch that %s and heeds no signal', (_does, fetch) => {
  test.each([
    'waitForOutcome',
    'getExtraction',
    'findExtractions',
    'summarizeBatch',
    'requestExtraction',
  ] as const)('a signal ends %s with its reason', async (name) => {
    const reason = new Error('enough');
    const stop = new AbortController();
    let calls = 0;
    const { waitForOutcome, getExtraction, findExtractions, summarizeBatch, requestExtraction } = client(
      () => {
        calls += 1;
        queueMicrotask(() => stop.abort(reason));
        return fetch();
      },
    );
    const { signal } = stop;
    const ended = {
      waitForOutcome: () => waitForOutcome('e-1', { signal }),
      getExtraction: () => getExtraction('e-1', { signal }),
      summarizeBatch: () => summarizeBatch('b', { signal }),
      findExtractions: () => findExtractions('order-7', { signal })[Symbol.asyncIterator]().next(),
      requestExtraction: () => requestExtraction(request, { signal }),
    }[name]();
    await expect(ended).rejects.toBe(reason);
    expect(calls).toBe(1);
  });
});

test('a fetch that heeds the signal is given it', async () => {
  const { signal } = new AbortController();
  let given: unknown;
  const { getExtraction } = client((_url, init) => {
    given = init?.signal;
    return Response.json({});
  });
  await getExtraction('e-1', { signal });
  expect(given).toBe(signal);
});

test('without a fetch, requests are signed for the region', async () => {
  const fetch = vi.spyOn(globalThis, 'fetch').mockResolvedValue(Response.json({}));
  onTestFinished(() => fetch.mockRestore());
  const credentials = async () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' });
  const options = { apiUrl: 'https://api.example', region: 'sa-east-1', credentials };
  await extractionsClient(options).getExtraction('e-1');
  const [sent] = fetch.mock.calls[0] ?? [];
  expect((sent as Request).headers.get('authorization')).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/sa-east-1\/execute-api\/aws4_request/,
  );
});

test('the region of the environment is that of the AWS CLI, where an empty variable is absent', async () => {
  const fetch = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({}));
  onTestFinished(() => {
    fetch.mockRestore();
    vi.unstubAllEnvs();
  });
  const credentials = async () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' });
  const options = { apiUrl: 'https://api.example', credentials };
  vi.stubEnv('AWS_REGION', '');
  vi.stubEnv('AWS_DEFAULT_REGION', '');
  expect(() => extractionsClient(options)).toThrow('No region is set.');
  vi.stubEnv('AWS_DEFAULT_REGION', 'eu-west-2');
  await extractionsClient(options).getExtraction('e-1');
  const [sent] = fetch.mock.calls[0] ?? [];
  expect((sent as Request).headers.get('authorization')).toContain('/eu-west-2/execute-api/');
});
