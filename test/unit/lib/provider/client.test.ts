import { describe, expect, test } from 'vitest';
import {
  createProviderClient,
  decryptCredentials,
  type Fetch,
  ProviderBusy,
  type ProviderClientOptions,
  ProviderRefused,
  ProviderUnauthorized,
  pollExtractionV2,
  startExtractionV2,
  type TaskRequest,
} from '#lib/provider/index.ts';
import { answering } from '../../../support/data/canned-connection.ts';
import { errorText } from '../../../support/data/text-of-error.ts';

test('a client logs in with the API key, and starts and reads a task in that session', async () => {
  const calls: string[] = [];
  const answers = [{ token: 'session' }, { taskId: 'task-1' }, { taskStatus: 'RUNNING', results: null }];
  const client = createProviderClient({
    baseUrl: 'https://provider.example',
    apiKey: 'api-key',
    clientId: 'client-1',
    fetch: async (url, { headers }) => {
      const { pathname } = new URL(url);
      calls.push(`${pathname} ${headers.authorization ?? headers['X-API-Key']}`);
      return Response.json(answers.shift());
    },
  });
  const credentials = { mode: 'raw', value: { username: 'u', password: 'p' } } as const;
  const taskId = await client.startTask({ entity: 'demo-bank', credentials, actions: [{ id: 'tef' }] });
  expect(await client.readTask(taskId)).toMatchObject({ taskStatus: 'RUNNING' });
  expect(calls).toEqual([
    '/api/v1/auth/login api-key',
    '/api/v2/tasks Bearer session',
    '/api/v2/tasks/task-1 Bearer session',
  ]);
});

type Call = Parameters<Parameters<typeof answering>[0]>[0];

/** A client of a provider that logs in as st-1, st-2, … and answers the rest as given. */
const clientOf = (
  answer: (call: Call, session: string) => { readonly status?: number; readonly body?: string },
  more: Partial<ProviderClientOptions> = {},
) => {
  let logins = 0;
  const { connection, calls } = answering((call) => {
    if (!call.url.endsWith('/api/v1/auth/login')) return answer(call, call.headers.authorization ?? '');
    logins += 1;
    return { body: JSON.stringify({ token: `st-${logins}` }) };
  });
  const client = createProviderClient({
    baseUrl: 'https://provider.example/',
    apiKey: 'api-key',
    clientId: 'client-1',
    fetch: connection.fetch,
    ...more,
  });
  const sent = (path: string) => calls.filter(({ url }) => url.includes(path));
  return { client, calls, sent, logins: () => logins };
};

const running = () => ({ body: '{"taskStatus":"RUNNING","results":null}' });
const request: TaskRequest = {
  entity: 'demo-bank',
  credentials: { mode: 'raw', value: { username: 'u', password: 'p' } },
  actions: [{ id: 'tef' }],
};

test('a session asks for its minutes, and is renewed before they are over', async () => {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const { client, sent } = clientOf(running, { sessionMinutes: 30, now: () => new Date(time) });
  await client.readTask('t');
  expect(sent('/auth/login').map(({ body }) => body)).toEqual(['{"expire":30}']);
  time += 28 * 60_000 - 1;
  await client.readTask('t');
  expect(sent('/auth/login')).toHaveLength(1);
  time += 1;
  await client.readTask('t');
  expect(sent('/auth/login')).toHaveLength(2);
});

describe('the credentials of a v2 task', () => {
  const started = () => ({ body: '{"taskId":"task-1"}' });
  const credentialsOf = (call: Call | undefined): unknown => JSON.parse(call?.body ?? '{}').credentials;
  const refusingFirst = (_call: Call, session: string) =>
    session === 'Bearer st-1' ? { status: 401 } : started();

  test('are encrypted under the token that they are sent with, and again under the next', async () => {
    const { client, sent } = clientOf(refusingFirst, { encryptRawCredentials: true });
    await client.startTask(request);
    const [first, second] = sent('/v2/tasks').map(credentialsOf) as { mode: string; value: string }[];
    expect([first?.mode, second?.mode]).toEqual(['encrypted', 'encrypted']);
    expect(decryptCredentials(first?.value ?? '', 'st-1')).toEqual(request.credentials.value);
    expect(decryptCredentials(second?.value ?? '', 'st-2')).toEqual(request.credentials.value);
  });

  test('that the caller encrypted are sent with the token that keys them, and with no other', async () => {
    const encrypted: TaskRequest = { ...request, credentials: { mode: 'encrypted', value: 'YQ==-Yg==' } };
    const { client, sent } = clientOf(refusingFirst, { encryptRawCredentials: true });
    await expect(client.startTask(encrypted)).rejects.toThrow(ProviderUnauthorized);
    expect(await client.startTask(encrypted, 'my-session')).toBe('task-1');
    expect(sent('/v2/tasks').map(({ headers }) => headers.authorization)).toEqual([
      'Bearer st-1',
      'Bearer my-session',
    ]);
    expect(sent('/v2/tasks').map(credentialsOf)).toEqual([encrypted.credentials, encrypted.credentials]);
  });

  test('of a legacy task are always encrypted, and again under the next token', async () => {
    const { client, sent } = clientOf(refusingFirst);
    await client.startLegacyTask({ action: 'demo-bank:tef', credentials: { username: 'u' }, webhook: true });
    const bodies = sent('/v1/tasks').map(({ body }) => JSON.parse(body ?? '{}'));
    expect(
      bodies.map(({ encryptArgs }, index) => decryptCredentials(encryptArgs, `st-${index + 1}`)),
    ).toEqual([{ username: 'u' }, { username: 'u' }]);
    expect(bodies[0]).toEqual({ action: 'demo-bank:tef', webhook: true, encryptArgs: expect.any(String) });
  });
});

test('limits are settings of the client', async () => {
  const { client } = clientOf(() => ({ body: ' '.repeat(101) }), { maxAnswerBytes: 100 });
  await expect(client.readTask('t')).rejects.toMatchObject({ name: 'ProviderAnswerTooLarge' });
  const never: Fetch = (_url, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const silent = clientOf(running, { fetch: never, totalTimeoutMs: 20 }).client;
  await expect(silent.readTask('t')).rejects.toMatchObject({ name: 'ProviderAmbiguous' });
});

const secret = 'sentinel-of-a-secret';

describe('a refusal of the v2 consent-based variant', () => {
  /** What a start and a poll throw. */
  const failuresOf = (status: number, body: string): Promise<readonly unknown[]> => {
    const { connection } = answering(() => ({ status, body }));
    const calls = [
      startExtractionV2(connection, secret, { product: 'tef', consentId: 'c' }),
      pollExtractionV2(connection, secret, 't'),
    ];
    return Promise.all(calls.map((call) => call.catch((error: unknown) => error)));
  };

  test.each([
    ['a type that is no text', 409, `{"errorType":7,"message":"${secret}"}`, ProviderRefused],
    ['a type and more than 64 KiB', 409, JSON.stringify({ errorType: 'x'.repeat(70_000) }), ProviderRefused],
    ['null', 429, 'null', ProviderBusy],
  ])('with %s is reported by its status alone, %i', async (_what, status, body, kind) => {
    for (const failure of await failuresOf(status, body)) {
      expect(failure).toBeInstanceOf(kind);
      expect(errorText(failure)).not.toContain(secret);
    }
  });
});
