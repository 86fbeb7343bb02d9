import { describe, expect, test, vi } from 'vitest';
import { isProgrammingError } from '#lib/client/is-programming-error.ts';
import { requestExtraction } from '#lib/client/request-extraction.ts';
import { sendWithRetries } from '#lib/client/send-with-retries.ts';
import { signedFetch } from '#lib/client/signed-fetch.ts';
import { closedPort } from '../../../support/programs/closed-port.ts';
import { rawServer } from '../../../support/programs/stub-servers.ts';

test('a request is sent under its idempotency key, and again under it after no answer, 5xx and 429', async () => {
  const request = { method: 'consent', product: 'tef', consentId: 'c', target: '11111111-1' } as const;
  const statuses = [undefined, 503, 429, 503, 202];
  const sent: unknown[] = [];
  const pauses: number[] = [];
  const requested = await requestExtraction('https://api.example', request, 'order-7', {
    fetch: async (url, init) => {
      sent.push([url, new Headers(init?.headers).get('idempotency-key'), init?.body]);
      const status = statuses.shift();
      if (status === undefined) throw new Error('reset');
      return Response.json({ status: 'REQUESTED' }, { status });
    },
    sleep: async (milliseconds) => void pauses.push(milliseconds),
  });
  expect(requested).toEqual({ extraction: { status: 'REQUESTED' }, replayed: false });
  const same = ['https://api.example/extractions', 'order-7', JSON.stringify(request)];
  expect(sent).toEqual([same, same, same, same, same]);
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000]);
});

test('a key that the API does not accept is refused before anything is sent', async () => {
  const request = { method: 'consent', product: 'tef', consentId: 'c', target: '11111111-1' } as const;
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
