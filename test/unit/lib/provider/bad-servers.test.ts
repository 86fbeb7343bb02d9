import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { type Connection, freshConnectionFetch, ProviderError } from '../../../../lib/provider/index.ts';
import { errorText } from '../../../support/error-text.ts';
import { httpServer } from '../../../support/local-servers.ts';
import { everyCall, secret } from './every-call.ts';

/** Long enough for an answer on this machine, and shorter than any of the slow ones. */
const totalTimeoutMs = 400;
const maxAnswerBytes = 10_000;

/** Servers that no endpoint should meet, over real connections. */
const badServers: readonly (readonly [name: string, answer: (response: ServerResponse) => void])[] = [
  ['sends HTML', (response) => response.setHeader('content-type', 'text/html').end(`<p>${secret}`)],
  ['sends an empty body', (response) => response.end()],
  ['sends no content', (response) => response.writeHead(204).end()],
  ['sends JSON that is cut off', (response) => response.end(`{"token":"${secret}`)],
  ['sends more than the limit', (response) => response.end(`"${secret}${'x'.repeat(maxAnswerBytes)}"`)],
  [
    'never stops sending',
    (response) => {
      const more = setInterval(() => response.write(secret.repeat(100)), 1);
      response.on('close', () => clearInterval(more));
    },
  ],
  [
    'sends one byte per second',
    (response) => {
      response.write('{');
      const more = setInterval(() => response.write(' '), 1_000);
      response.on('close', () => clearInterval(more));
    },
  ],
  [
    'refuses one byte per second',
    (response) => {
      response.writeHead(409).write('{');
      const more = setInterval(() => response.write(' '), 1_000);
      response.on('close', () => clearInterval(more));
    },
  ],
  ['says nothing', () => {}],
  [
    'hangs up in the middle',
    (response) => {
      response.setHeader('content-length', 1_000).write('{"token":');
      setImmediate(() => response.destroy());
    },
  ],
  ['redirects', (response) => response.writeHead(302, { location: '/elsewhere' }).end(secret)],
  ['is broken', (response) => response.writeHead(500).end(secret)],
];

describe.each(badServers)('a server that %s', (_name, answer) => {
  test('ends every call with a named error and without a secret', async () => {
    const { baseUrl } = await httpServer(answer);
    const connection: Connection = {
      baseUrl,
      fetch: freshConnectionFetch(2_000),
      totalTimeoutMs,
      maxAnswerBytes,
    };
    const failures = await Promise.all(
      everyCall.map(({ call }) =>
        call(connection).then(
          () => undefined,
          (error: unknown) => error,
        ),
      ),
    );
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(ProviderError);
      expect(errorText(failure)).not.toContain(secret);
    }
  });
});
