import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  ProviderAmbiguous,
  ProviderAnswerTooLarge,
  ProviderBusy,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '#lib/provider/transport/errors.ts';
import { freshConnectionFetch } from '#lib/provider/transport/fresh-connection-fetch.ts';
import { parseRetryAfter, retryAtOf } from '#lib/provider/transport/retry-after.ts';
import { type Connection, exchange } from '#lib/provider/transport/send-request.ts';
import { TransportFailure, wasNeverSent } from '#lib/provider/transport/transport-failure.ts';
import { errorText } from '../../../../support/data/text-of-error.ts';
import { closedPort } from '../../../../support/programs/closed-port.ts';
import { selfSignedCertificate } from '../../../../support/programs/self-signed-certificate.ts';
import { httpServer, rawServer } from '../../../../support/programs/stub-servers.ts';

test('an answer is given as its bytes, and a refusal is an error by its status', async () => {
  const server = createServer(({ url }, response) => {
    response.statusCode = url === '/things/1' ? 200 : 404;
    response.end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const connection: Connection = {
    baseUrl: `http://127.0.0.1:${port}`,
    fetch: freshConnectionFetch(3_000),
    totalTimeoutMs: 20_000,
    maxAnswerBytes: 65_536,
  };
  const get = (path: string) => exchange(connection, { method: 'GET', path, headers: {} });
  expect(Buffer.from((await get('/things/1')).bytes)).toEqual(Buffer.from('{}'));
  await expect(get('/things/2')).rejects.toThrow(ProviderRefused);
  server.close();
});

const secret = 'sentinel-of-a-secret';
const ok = 'HTTP/1.1 200 OK\r\n';

const connectionTo = (baseUrl: string, more: Partial<Connection> = {}): Connection => ({
  baseUrl,
  fetch: freshConnectionFetch(2_000),
  totalTimeoutMs: 5_000,
  maxAnswerBytes: 1_000,
  ...more,
});

/** A start call's like: a POST with a secret in its header, its body and its path. */
const post = (connection: Connection) =>
  exchange(connection, {
    method: 'POST',
    path: '/things/{taskId}',
    ids: { taskId: secret },
    headers: { authorization: `Bearer ${secret}` },
    body: { password: secret },
  });

const failureOf = async (call: Promise<unknown>): Promise<Error> => {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof Error)) throw new Error('The call did not fail.');
  expect(errorText(outcome)).not.toContain(secret);
  return outcome;
};

const accepting = () => httpServer((response) => response.end('{}'));

/** What a post to a server with such answers throws, and the requests that it got. */
const refusedPost = async (answer: Parameters<typeof httpServer>[0]) => {
  const { baseUrl, seen } = await httpServer(answer);
  return { failure: await failureOf(post(connectionTo(baseUrl))), seen };
};

describe('a call', () => {
  test('goes out as it was given, with its JSON body', async () => {
    const { baseUrl, seen } = await accepting();
    await post(connectionTo(baseUrl));
    expect(seen).toEqual([
      {
        method: 'POST',
        url: `/things/${secret}`,
        headers: expect.objectContaining({
          accept: 'application/json',
          // node:http undoes no compression, and without this header any would be acceptable (RFC 9110, section 12.5.3).
          'accept-encoding': 'identity',
          'content-type': 'application/json',
          authorization: `Bearer ${secret}`,
        }),
        body: JSON.stringify({ password: secret }),
      },
    ]);
  });

  test('opens a connection of its own every time, and ends it: none is left behind, frozen with the function', async () => {
    const ended: Promise<unknown>[] = [];
    const { baseUrl, connections } = await rawServer((socket) => {
      ended.push(once(socket, 'end'));
      socket.once('data', () => socket.write(`${ok}content-length: 2\r\n\r\n{}`));
    });
    for (let calls = 0; calls < 3; calls += 1) await post(connectionTo(baseUrl));
    expect(connections()).toBe(3);
    await Promise.all(ended);
  });
});

describe('an answer of 2xx', () => {
  test('of exactly the most allowed bytes is given as received, and of one more is too large', async () => {
    const bytes = Buffer.alloc(1_000, 0xff);
    const fits = await httpServer((response) => response.end(bytes));
    expect(Buffer.from((await post(connectionTo(fits.baseUrl))).bytes)).toEqual(bytes);
    const { failure } = await refusedPost((response) => response.end('x'.repeat(1_001)));
    expect(failure).toBeInstanceOf(ProviderAnswerTooLarge);
  });

  test('that never ends is cut off once it is too large', async () => {
    const disconnected = Promise.withResolvers<void>();
    const { failure } = await refusedPost((response) => {
      const more = setInterval(() => response.write('x'.repeat(400)), 1);
      response.on('close', () => {
        clearInterval(more);
        disconnected.resolve();
      });
    });
    expect(failure).toBeInstanceOf(ProviderAnswerTooLarge);
    await disconnected.promise;
  });
});

describe('a status says what may be done next', () => {
  test.each([
    [400, ProviderRefused],
    [401, ProviderUnauthorized],
    [408, ProviderAmbiguous],
    // The Fetch standard has a call answered 421 made once more: a second start.
    [421, ProviderRefused],
    [429, ProviderBusy],
    [500, ProviderAmbiguous],
    [503, ProviderAmbiguous],
    [304, ProviderAmbiguous],
  ])('%i, which may also say when', async (status, kind) => {
    const { failure, seen } = await refusedPost((response) =>
      response.writeHead(status, { 'retry-after': '7' }).end(`{"message":"${secret}"}`),
    );
    expect(failure).toBeInstanceOf(kind);
    expect(failure.message).toContain(`${status}`);
    expect(failure.message).toContain('POST /things/{taskId}');
    expect(failure).toMatchObject({ retryAfter: { kind: 'delay', seconds: 7 } });
    if (kind === ProviderRefused) expect(failure).toMatchObject({ status });
    expect(seen).toHaveLength(1);
  });

  test.each([302, 307])('%i is not followed: it would carry credentials along', async (status) => {
    const elsewhere = await accepting();
    const { failure, seen } = await refusedPost((response) =>
      response.writeHead(status, { location: `${elsewhere.baseUrl}/stolen` }).end(),
    );
    expect(failure).toBeInstanceOf(ProviderAmbiguous);
    expect(seen).toHaveLength(1);
    expect(elsewhere.seen).toHaveLength(0);
  });

  test('the status alone decides: a body that never ends does not hold up a refusal', async () => {
    const { failure } = await refusedPost((response) => void response.writeHead(500).write('x'));
    expect(failure).toBeInstanceOf(ProviderAmbiguous);
  });
});

describe('the beginning of a refusal', () => {
  /** What `explain` got of a 403, and what was called until then. */
  const refusal = async (
    answer: Parameters<typeof httpServer>[0],
    explainOnly: readonly number[] = [403],
  ) => {
    const { baseUrl } = await httpServer(answer);
    const seen: unknown[] = [];
    const failure = await failureOf(
      exchange(connectionTo(baseUrl), {
        method: 'POST',
        path: '/x',
        headers: {},
        explainOnly,
        explain: (_status, body) => void seen.push(Buffer.from(body).toString()),
        whenRefused: () => seen.push('refused'),
      }),
    );
    expect(failure).toBeInstanceOf(ProviderRefused);
    return seen;
  };

  test('is read after the refusal was reported, and is 4 KB at most of a body that never ends', async () => {
    const seen = await refusal((response) => {
      response.writeHead(403);
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(1_000)));
        response.once('drain', write);
      };
      write();
    });
    expect(seen).toEqual(['refused', 'x'.repeat(4_096)]);
  });

  test('is what came within 2 s of a body that stalls, or before it broke', async () => {
    const stalling = refusal((response) => void response.writeHead(403).write('restricted'));
    const broken = refusal((response) => {
      response.writeHead(403).write('restricted');
      setTimeout(() => response.destroy(), 50);
    });
    expect(await Promise.all([stalling, broken])).toEqual([
      ['refused', 'restricted'],
      ['refused', 'restricted'],
    ]);
  });

  test('is not read with another status', async () => {
    expect(await refusal((response) => void response.writeHead(403).end('x'), [429])).toEqual(['refused']);
  });
});

const expectLost = (failure: Error, reason: 'timeout' | 'reset') => {
  expect(failure).toBeInstanceOf(ProviderAmbiguous);
  expect(failure).toMatchObject({ reason });
  expect(failure.cause).toBeInstanceOf(TransportFailure);
};

describe('an answer that is lost is ambiguous: the call may have taken effect', () => {
  // Long enough for a busy machine to connect in: a connect that times out has surely started nothing.
  const totalTimeoutMs = 2_000;

  test('silence, bytes or headers now and then, and a body that stalls end at the total timeout', async () => {
    const every = (
      ms: number,
      write: () => void,
      until: { on: (event: 'close', end: () => void) => unknown },
    ) => {
      const drip = setInterval(write, ms);
      until.on('close', () => clearInterval(drip));
    };
    // Its end is the end of the connection, so nothing but the timeout shows that it was cut off.
    const stalling = (body: string) =>
      rawServer((socket) => socket.once('data', () => socket.write(`${ok}\r\n${body}`)));
    const servers = await Promise.all([
      rawServer(() => {}),
      httpServer((response) => {
        response.writeHead(200);
        every(20, () => response.write(' '), response);
      }),
      rawServer((socket) => {
        socket.write(`${ok}x-long: `);
        every(10, () => socket.write('x'), socket);
      }),
      stalling(''),
      stalling('{"taskId":"task'),
    ]);
    const failures = await Promise.all(
      servers.map(({ baseUrl }) => failureOf(post(connectionTo(baseUrl, { totalTimeoutMs })))),
    );
    for (const failure of failures) expectLost(failure, 'timeout');
  });

  const reset = (first: string) => (socket: Socket) => socket.write(first, () => socket.resetAndDestroy());
  const closed = (text: string) => (socket: Socket) => socket.end(text);

  test.each<[string, (socket: Socket) => unknown]>([
    ['a reset before a byte of it', reset('')],
    ['a reset in the middle of its body', reset(`${ok}content-length: 100\r\n\r\n{"taskId":"task`)],
    ['a reset in the middle of a body without a length', reset(`${ok}\r\n{"taskId":"task`)],
    ['a reset in the middle of a chunk', reset(`${ok}transfer-encoding: chunked\r\n\r\n20\r\n{"task`)],
    ['an end before a byte of it', closed('')],
    // Node's error of a parser carries the bytes that it stumbled over.
    ['an end after what is no HTTP', closed(`${secret}\r\n\r\n`)],
    [
      'an end after its announcement',
      closed('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'),
    ],
    // Node drops the connection on a 101 that nobody listens for, and emits neither `response` nor `error`; the
    // signal comes too late then. Not even the total timeout ends the call.
    [
      'a change of the protocol',
      (socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ],
  ])('by %s, and the call is not sent again', async (_what, answer) => {
    const { baseUrl, connections } = await rawServer((socket) => socket.once('data', () => answer(socket)));
    expectLost(await failureOf(post(connectionTo(baseUrl))), 'reset');
    expect(connections()).toBe(1);
  });
});

describe('a call that surely never left is distinguished', () => {
  test('nobody listens on any address of the name, or it does not resolve', async () => {
    for (const baseUrl of [`http://localhost:${await closedPort()}`, 'http://no-such-provider.invalid']) {
      expect(await failureOf(post(connectionTo(baseUrl)))).toBeInstanceOf(ProviderUnreachable);
    }
  });

  test('the certificate is not accepted', async () => {
    let requests = 0;
    const server = createTlsServer(selfSignedCertificate(), (_request, response) => {
      requests += 1;
      response.end('{}');
    });
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const failure = await failureOf(post(connectionTo(`https://127.0.0.1:${port}`)));
    server.close();
    expect(failure).toBeInstanceOf(ProviderUnreachable);
    expect(requests).toBe(0);
  });

  test('the handshake is never answered: the connect limit covers TLS', async () => {
    const { port } = await rawServer(() => {});
    const connection = connectionTo(`https://127.0.0.1:${port}`, { fetch: freshConnectionFetch(100) });
    expect(await failureOf(post(connection))).toBeInstanceOf(ProviderUnreachable);
  });

  test.each([
    ['a line break', `${secret}\n`],
    ['a character beyond Latin-1', `${secret}€`],
  ])('a session token with %s in it cannot be sent, and is not quoted', async (_what, token) => {
    const { baseUrl, seen } = await accepting();
    const headers = { authorization: `Bearer ${token}` };
    const call = exchange(connectionTo(baseUrl), { method: 'POST', path: '/', headers });
    expect(await failureOf(call)).toBeInstanceOf(ProviderUnreachable);
    expect(seen).toHaveLength(0);
  });
});

const now = new Date('2026-03-01T12:00:00.000Z');
const secondsUntil = (header: string | null): number | undefined => {
  const at = retryAtOf(parseRetryAfter(header), now);
  return at === undefined ? undefined : (at - now.getTime()) / 1_000;
};

test('a date as asctime writes it, without a zone, is in GMT, whatever the zone of the machine', () => {
  const zone = process.env.TZ;
  process.env.TZ = 'America/Santiago';
  try {
    expect(new Date('2026-03-01T12:00:00').toISOString()).toBe('2026-03-01T15:00:00.000Z');
    expect(secondsUntil('Sun Mar  1 12:02:00 2026')).toBe(120);
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test.each([
  ['120', 120],
  [' 7 ', 7],
  ['Sun, 01 Mar 2026 12:02:00 GMT', 120],
  ['Sunday, 01-Mar-26 12:02:00 GMT', 120],
  ['Sun Mar  1 12:02:00 2026 GMT', 120],
  // An hour at most is honoured.
  ['864000', 3_600],
  ['Wed, 01 Apr 2026 12:00:00 GMT', 3_600],
])('%s is a time to wait', (header, seconds) => {
  expect(secondsUntil(header)).toBe(seconds);
});

test.each(['0', 'Sun, 01 Mar 2026 11:59:59 GMT', '-5', '5.5', '1 Mar 2026 12:02 GMT', 'soon', null])(
  '%s is no time to wait',
  (header) => {
    expect(secondsUntil(header)).toBeUndefined();
  },
);

const failed = (fields: object): Error => Object.assign(new Error('failed'), fields);
const fetchFailed = (cause: unknown): Error => new TypeError('fetch failed', { cause });
const refused = failed({ code: 'ECONNREFUSED', syscall: 'connect' });
const reset = failed({ code: 'ECONNRESET', syscall: 'read' });

// Errors as another `fetch` throws them.
test.each([
  ['a refused connect', fetchFailed(refused), true],
  ['a name that does not exist', failed({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }), true],
  ['undici’s own connect timeout', fetchFailed(failed({ code: 'UND_ERR_CONNECT_TIMEOUT' })), true],
  ['an expired certificate', fetchFailed(failed({ code: 'CERT_HAS_EXPIRED' })), true],
  ['every address refused', fetchFailed(new AggregateError([refused, refused])), true],
  ['a reset', fetchFailed(reset), false],
  ['one address refused, another reset', fetchFailed(new AggregateError([refused, reset])), false],
  ['an aggregate of nothing', fetchFailed(new AggregateError([])), false],
  ['nothing', undefined, false],
  ['null', null, false],
])('%s: whether it was surely never sent', (_what, error, expected) => {
  expect(wasNeverSent(error)).toBe(expected);
});
