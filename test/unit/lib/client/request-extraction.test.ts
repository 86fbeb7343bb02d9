import { describe, expect, test, vi } from 'vitest';
import { isProgrammingError } from '#lib/client/is-programming-error.ts';
import { type ExtractionRequest, requestExtraction } from '#lib/client/request-extraction.ts';
import { sendWithRetries } from '#lib/client/send-with-retries.ts';
import { signedFetch } from '#lib/client/signed-fetch.ts';
import { problem } from '#lib/http/problem.ts';
import { closedPort } from '../../../support/programs/closed-port.ts';
import { rawServer } from '../../../support/programs/stub-servers.ts';

test('a request is sent under its idempotency key, and once more under the same one after a 503', async () => {
  const statuses = [503, 202];
  const keys: unknown[] = [];
  const request: ExtractionRequest = {
    method: 'consent',
    product: 'tef',
    consentId: 'c',
    target: '11111111-1',
  };
  const requested = await requestExtraction('https://api.example', request, 'order-7', {
    fetch: async (_url, init) => {
      keys.push(new Headers(init?.headers).get('idempotency-key'));
      return Response.json({ status: 'REQUESTED' }, { status: statuses.shift() ?? 500 });
    },
    sleep: async () => undefined,
  });
  expect(requested).toEqual({ extraction: { status: 'REQUESTED' }, replayed: false });
  expect(keys).toEqual(['order-7', 'order-7']);
});

type Answer = Response | Error;

const request: ExtractionRequest = {
  entity: 'demo-bank',
  credentials: { mode: 'persisted', value: 'c1ph3r' },
  actions: [{ id: 'product-balance' }],
};

const post = async (...answers: readonly Answer[]) => {
  const queue = [...answers];
  const sent: { url: string; key: unknown; body: unknown }[] = [];
  const pauses: number[] = [];
  const result = await requestExtraction('https://api.example', request, 'key-1', {
    fetch: async (url, init) => {
      const headers = init?.headers as Record<string, string>;
      sent.push({ url, key: headers['idempotency-key'], body: JSON.parse(String(init?.body)) });
      const next = queue.shift() ?? new Error('more calls than answers');
      if (next instanceof Error) throw next;
      return next;
    },
    sleep: async (milliseconds) => void pauses.push(milliseconds),
  }).catch((error: unknown) => ({ error }));
  return { result, sent, pauses };
};

const answer = (status: number, headers = {}): Response =>
  new Response('{"status":"REQUESTED"}', { status, headers });

test('no answer, 5xx and 429 are retried under the same key', async () => {
  const { result, sent, pauses } = await post(
    new Error('reset'),
    answer(503),
    answer(429),
    answer(503),
    answer(202),
  );
  expect(result).toEqual({ extraction: { status: 'REQUESTED' }, replayed: false });
  const same = { url: 'https://api.example/extractions', key: 'key-1', body: request };
  expect(sent).toEqual([same, same, same, same, same]);
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000]);
});

test('an error has the type of the problem', async () => {
  const { result } = await post(new Response(problem('invalid-request').body, { status: 400 }));
  expect(result).toMatchObject({ error: { problem: 'urn:cosecha:problem:invalid-request' } });
});

test('a key that the API does not accept is refused before anything is sent', async () => {
  const fetch = vi.fn();
  const sleep = vi.fn();
  for (const key of ['pedido-ñ', '€', '', 'k'.repeat(256)]) {
    const requesting = requestExtraction('https://api.example', request, key, { fetch, sleep });
    await expect(requesting).rejects.toThrow('An idempotencyKey has 1 to 255 printable ASCII characters.');
  }
  expect(fetch).not.toHaveBeenCalled();
});

describe('an error that is not of the network', () => {
  const sleep = async () => {};
  const send = (url: string, init: RequestInit, credentials = async () => keys) =>
    sendWithRetries(url, init, { fetch: signedFetch({ region: 'eu-west-1', credentials }), sleep });
  const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };

  test.each([
    ['a header that is not Latin-1', 'https://api.example/', { headers: { traceparent: '€' } }],
    ['a header with a line break', 'https://api.example/', { headers: { traceparent: 'a\nb' } }],
    ['an address that is none', 'api.example', {}],
    ['a port that fetch refuses', 'http://127.0.0.1:0x/', {}],
    [
      'a header that fetch itself sets',
      'https://api.example/',
      { headers: { 'transfer-encoding': 'chunked' } },
    ],
    ['a method that does not exist', 'https://api.example/', { method: 'A B' }],
  ])('such as %s is thrown at once, as it is', async (_what, url, init) => {
    const error = await send(url, init).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(TypeError);
    // Node's own fetch throws others.
    expect(isProgrammingError(await fetch(url, init).catch((one: unknown) => one))).toBe(true);
  });

  test('the one of the credentials is thrown as it is, after a few tries', async () => {
    const none = Object.assign(new Error('none'), { name: 'CredentialsProviderError' });
    const credentials = vi.fn(async () => {
      throw none;
    });
    await expect(send('https://api.example/', {}, credentials)).rejects.toBe(none);
    expect(credentials).toHaveBeenCalledTimes(5);
  });

  test('an address where nothing listens, and a connection that breaks, are of the network', async () => {
    const { baseUrl } = await rawServer((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
    );
    for (const url of [baseUrl, `http://127.0.0.1:${await closedPort()}`]) {
      await expect(send(url, {})).rejects.toMatchObject({ name: 'NoAnswerError' });
    }
  });
});
