import { DynamoDBClient, type GetItemCommand } from '@aws-sdk/client-dynamodb';
import { KMSClient, ListAliasesCommand } from '@aws-sdk/client-kms';
import { ResourceNotFoundException, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { type SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { FunctionName } from '../../../../../infra/lambda/function-names.ts';
import { intakeClient, removingClient } from '../../../../../lib/aws/wiring/aws-client-timeouts.ts';
import {
  breakerFromEnvironment,
  breakersFromEnvironment,
} from '../../../../../lib/aws/wiring/breaker-from-environment.ts';
import {
  MissingEnvironmentVariable,
  requestsFromEnvironment,
  requiredVariable,
} from '../../../../../lib/aws/wiring/environment.ts';
import {
  apiKeyFromEnvironment,
  providerFromEnvironment,
  taskTokensFromEnvironment,
} from '../../../../../lib/aws/wiring/provider-from-environment.ts';
import { withStoredApiKey } from '../../../../../lib/aws/wiring/stored-api-key.ts';
import type { StartInput } from '../../../../../lib/extraction/start/start.ts';
import { NotConfigured } from '../../../../../lib/not-configured.ts';
import { telemetry } from '../../../../../lib/observability/powertools-telemetry.ts';
import { ProviderUnauthorized } from '../../../../../lib/provider/transport/errors.ts';
import { fail, stubClient } from '../../../../support/aws/stub-client.ts';
import { answering } from '../../../../support/data/canned-connection.ts';
import { capturedLog } from '../../../../support/data/captured-log.ts';
import {
  at,
  extraction,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';
import { closedPort } from '../../../../support/programs/closed-port.ts';
import { httpServer } from '../../../../support/programs/stub-servers.ts';
import { interpretedDynamo } from '../../../../support/stores/interpreted-dynamo.ts';
import { storedRequest } from '../../../../support/stores/memory-request-store.ts';
import { functionsOf, synthesize } from '../../../infra/synth.ts';

/** What the SDK's handler of requests throws for a try without an answer. */
const noAnswer = Object.assign(new Error('no answer'), { name: 'TimeoutError', code: 'ETIMEDOUT' });

/** A cold start, and the other three calls, in milliseconds. */
const othersMs = 4_000;
/** API Gateway waits no longer for an integration. */
const apiGatewayMs = 30_000;

test('one call of request-extraction may hang for 10 s, and the function still answers in its time', async () => {
  let tries = 0;
  const client = new KMSClient({
    ...intakeClient,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a-secret' },
    requestHandler: {
      handle: async () => {
        tries += 1;
        throw noAnswer;
      },
    },
  });
  const { $metadata } = await client.send(new ListAliasesCommand({})).then(
    () => ({ $metadata: {} }),
    (error) => error,
  );
  const hangMs = tries * intakeClient.requestHandler.requestTimeout;
  // The SDK pauses for a random part of 50 ms, and doubles that with each try.
  const pausesMs = 50 * (2 ** (tries - 1) - 1);
  expect($metadata).toMatchObject({ attempts: tries });
  expect(hangMs).toBeGreaterThanOrEqual(10_000);
  const lambda = functionsOf(synthesize().template).get('request-extraction');
  const timeoutMs = 1_000 * Number(lambda?.properties.Timeout);
  expect(hangMs + pausesMs + othersMs).toBeLessThanOrEqual(timeoutMs);
  expect(timeoutMs).toBeLessThan(apiGatewayMs);
});

test.each([undefined, ''])('a variable that is %j is named in the error', (value) => {
  vi.stubEnv('COSECHA_TEST_VALUE', value);
  const message = 'The environment variable COSECHA_TEST_VALUE is not set.';
  expect(() => requiredVariable('COSECHA_TEST_VALUE')).toThrow(new MissingEnvironmentVariable(message));
});

/** Tokens tt-1, tt-2, … of a provider; the secret's keys are those given, one per read. */
const setUp = (...keys: string[]) => {
  deployed('https://provider.example');
  const { client } = stubClient<SecretsManagerClient>(() => ({ SecretString: keys.shift() }));
  let made = 0;
  const { connection, calls } = answering(() => {
    made += 1;
    return { body: JSON.stringify({ data: { taskToken: `tt-${made}` } }) };
  });
  const time = { ms: 0 };
  const now = () => new Date(time.ms);
  const tokens = taskTokensFromEnvironment(apiKeyFromEnvironment(client, now), connection, now);
  return { tokens, calls, time };
};

test('a Task Token is created with the stored key and the client id, and cached for its lifetime', async () => {
  const { tokens, calls, time } = setUp('old', 'new');
  expect(await tokens.current('11111111-1')).toBe('tt-1');
  time.ms = 299_999;
  expect(await tokens.current('11111111-1')).toBe('tt-1');
  time.ms = 300_000;
  expect(await tokens.current('11111111-1')).toBe('tt-2');
  expect(calls.map(({ headers }) => headers['x-api-key'])).toEqual(['old', 'new']);
  expect(JSON.parse(calls[0]?.body ?? '')).toEqual({ target: '11111111-1', clientId: 'client' });
});

test('without the setting providerClientId, nothing is sent to the provider', async () => {
  const { tokens, calls } = setUp('key');
  vi.stubEnv('PROVIDER_CLIENT_ID', '');
  await expect(tokens.current('11111111-1')).rejects.toThrow(NotConfigured);
  expect(calls).toEqual([]);
});

capturedLog();

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The functions that call the provider, with tables in memory and messages that are kept. */
const deployed = (providerBaseUrl: string) => {
  const environment = {
    AWS_REGION: 'eu-west-1',
    BREAKER: JSON.stringify({
      failures: 5,
      openSeconds: 30,
      maxOpenSeconds: 300,
      turnSeconds: 100,
      slowCallSeconds: 5,
    }),
    BREAKERS_TABLE: 'Breakers',
    DISPATCHER_NAME: 'dispatcher',
    ENCRYPT_RAW_CREDENTIALS: 'false',
    EXTRACTIONS_TABLE: 'Extractions',
    FINGERPRINT_KEY_SECRET: 'fingerprint-key',
    PROVIDER_API_KEY_SECRET: 'provider-api-key',
    PROVIDER_BASE_URL: providerBaseUrl,
    PROVIDER_CLIENT_ID: 'client',
    PROVIDER_ENDPOINTS: '{}',
    PROVIDER_TIMEOUTS: JSON.stringify({ connect: 5_000, total: 20_000 }),
    RATE: '{}',
    RECONCILE_QUEUE_URL: 'https://sqs.example/111122223333/queue',
    REFUSALS_TABLE: 'Refusals',
    REFUSED_CREDENTIALS_DAYS: '7',
    REQUESTS_TABLE: 'Requests',
    RESULTS_BUCKET: 'results',
    RESULTS_MAX_BYTES: '1024',
    SEAL_KEY_ARN: 'arn:aws:kms:eu-west-1:111122223333:key/1',
    SESSION_MINUTES: '50',
    START_LINE_TABLE: 'StartLine',
    SLOW_QUEUE_URL: 'https://sqs.example/111122223333/slow',
    TASKS_TABLE: 'Tasks',
    TASK_TOKEN_MINUTES: '5',
    TIMINGS: JSON.stringify(timings),
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const tables = {
    Breakers: interpretedDynamo('name'),
    Extractions: interpretedDynamo('extractionId'),
    Refusals: interpretedDynamo('credentialsMac'),
    Requests: interpretedDynamo('requestId'),
    StartLine: interpretedDynamo('extractionId'),
    Tasks: interpretedDynamo('taskId'),
  };
  const messages: unknown[] = [];
  const sealed = Buffer.from(JSON.stringify({ credentials: { mode: 'raw', value: { username: 'u' } } }));
  vi.spyOn(SecretsManagerClient.prototype, 'send').mockImplementation(async () => ({ SecretString: 'key' }));
  vi.spyOn(KMSClient.prototype, 'send').mockImplementation(async () => ({ Plaintext: sealed }));
  vi.spyOn(SFNClient.prototype, 'send').mockImplementation(async () => ({}));
  vi.spyOn(SQSClient.prototype, 'send').mockImplementation(async (command: unknown) => {
    const { QueueUrl, MessageBody } = (command as SendMessageCommand).input;
    messages.push([QueueUrl?.split('/').at(-1), JSON.parse(MessageBody ?? '')]);
    return {};
  });
  vi.spyOn(DynamoDBClient.prototype, 'send').mockImplementation((command: unknown) => {
    const { TableName } = (command as GetItemCommand).input;
    return tables[TableName as keyof typeof tables].client.send(command as GetItemCommand);
  });
  return { tables, messages };
};

let loaded = 0;

/** A function in a process of its own, with the environment of `deployed`. */
const load = async <Event>(name: FunctionName): Promise<(event: Event) => Promise<unknown>> => {
  loaded += 1;
  // The query makes it another module each time. Vite would analyse a path and not find it.
  const { handler } = await import(
    /* @vite-ignore */ `../../../../../functions/${name}.ts?process=${loaded}`
  );
  return (event) => handler(event, { getRemainingTimeInMillis: () => 90_000 });
};

const setTime = (seconds: number) => vi.useFakeTimers({ toFake: ['Date'], now: at(seconds) });

describe('start-task', () => {
  /** Starts the extraction, as if it were another one each time. */
  const startOnce = async (
    run: (input: StartInput) => Promise<unknown>,
    tables: ReturnType<typeof deployed>['tables'],
  ) => {
    tables.Extractions.items.set(id, extraction());
    tables.Requests.items.set('request-1', storedRequest(id));
    tables.Tasks.items.clear();
    const input = { extractionId: id, requestId: 'request-1', callbackToken: 'token', callbackAttempt: 0 };
    await run(input).catch(() => undefined);
  };

  /** A provider that accepts every login and every start. */
  const accepting = async () => {
    const answer = JSON.stringify({ token: 'session', taskId: 'task-1' });
    const { baseUrl, seen } = await httpServer((response) => response.end(answer));
    const { tables } = deployed(baseUrl);
    return { seen, tables, run: await load<StartInput>('start-task') };
  };

  test('logs in anew before a start in a turn, although it has a session, and does not otherwise', async () => {
    const { seen, tables, run } = await accepting();
    setTime(0);
    await startOnce(run, tables);
    await startOnce(run, tables);
    const login = '/api/v1/auth/login';
    const post = '/api/v2/tasks';
    expect(seen.map(({ url }) => url)).toEqual([login, post, post]);
    const failed = ['a', 'b', 'c', 'd', 'e'].map((one) => [one, at(1).getTime()]);
    const opened = { since: at(1).getTime(), pause: 30, turn: { at: at(5).getTime() } };
    const name = extraction().requestedBy;
    const state = { groups: [{ name: 'bank', failed, opened }] };
    tables.Breakers.items.set(name, { name, state, version: '1' });
    setTime(5);
    await startOnce(run, tables);
    expect(seen.slice(3).map(({ url }) => url)).toEqual([login, post]);
    // The accepted start closed the breaker: of the group only that time is left.
    const groups = [['bank', at(5).getTime()]];
    expect(tables.Breakers.items.get(name)).toMatchObject({ state: { groups } });
  });

  test.each([
    ['starts', 0],
    ['reads', 2],
  ])('while an operator pauses %s, makes %i calls', async (paused, made) => {
    const { seen, tables, run } = await accepting();
    const state = { [paused]: { since: 1, reason: 'maintenance' } };
    tables.Breakers.items.set('operator', { name: 'operator', state, version: '1' });
    setTime(0);
    await startOnce(run, tables);
    expect(seen).toHaveLength(made);
  });

  test('makes no call for credentials that are marked as refused, under the MAC that it stores in Tasks', async () => {
    const { seen, tables, run } = await accepting();
    setTime(5);
    await startOnce(run, tables);
    const made = seen.length;
    const { credentialsMac } = tables.Tasks.items.get('task-1') ?? {};
    expect(credentialsMac).toMatch(/^[0-9a-f]{32}$/);
    const mark = { extractionId: 'another', noticedAt: iso(1), isRefused: true, expiresAt: 1e11 };
    tables.Refusals.items.set(String(credentialsMac), { credentialsMac, ...mark });
    await startOnce(run, tables);
    expect(seen).toHaveLength(made);
    expect(tables.Extractions.items.get(id)).toMatchObject({ status: 'REJECTED' });
  });

  test('reports a slow start once it takes breakerSlowCallSeconds, and clears the timer of one that has ended', () => {
    deployed('https://provider.example');
    vi.useFakeTimers();
    const { whenSlow } = breakerFromEnvironment(breakersFromEnvironment(() => at(0)));
    const slow: string[] = [];
    whenSlow(() => slow.push('under way'));
    whenSlow(() => slow.push('ended'))();
    vi.advanceTimersByTime(4_999);
    expect(slow).toEqual([]);
    vi.advanceTimersByTime(1);
    expect([slow, vi.getTimerCount()]).toEqual([['under way'], 0]);
  });
});

test.each([
  ['reconcile queue, and moves to the slow queue', 'queue', 5_000, { extractionId: id }],
  ['slow queue, and stays there', 'slow', 20_000, { dueAt: expect.any(String) }],
])('reconcile-extraction gives each call of a read the time of its queue: %s', async (_, queue, ms, sent) => {
  const { tables, messages } = deployed(`http://127.0.0.1:${await closedPort()}`);
  tables.Extractions.items.set(id, extractionIn('RUNNING', { dueAt: iso(100) }));
  tables.Tasks.items.set('task-1', { taskId: 'task-1', extractionId: id });
  const timeouts = vi.spyOn(AbortSignal, 'timeout');
  const run = await load('reconcile-extraction');
  setTime(100);
  const message = {
    messageId: '1',
    body: JSON.stringify({ extractionId: id, cause: 'due' }),
    attributes: { ApproximateReceiveCount: '1' },
    eventSourceARN: `arn:aws:sqs:eu-west-1:111122223333:${queue}`,
  };
  expect(await run({ Records: [message] })).toEqual({ batchItemFailures: [] });
  expect(timeouts.mock.calls).toEqual([[ms]]);
  expect(messages).toMatchObject([['slow', { cause: 'due', ...sent }]]);
});

describe('stored-api-key', () => {
  /** Calls with these keys, one for each read. A provider that accepts `accepted` alone. */
  const setUp = (...keys: string[]) => {
    const provider = { accepted: keys[0] };
    const time = { ms: 0, readTakes: 0 };
    const { client, sent } = stubClient<SecretsManagerClient>(() => {
      time.ms += time.readTakes;
      return { SecretString: keys.shift() };
    });
    const withApiKey = withStoredApiKey(client, 'stack/provider-api-key', () => new Date(time.ms));
    const called: string[] = [];
    const call = () =>
      withApiKey(async (apiKey) => {
        called.push(apiKey);
        return apiKey === provider.accepted ? apiKey : fail(new ProviderUnauthorized('401'));
      });
    return { provider, time, call, called, reads: () => sent.length };
  };

  test('the key is read once in five minutes, counted from when it was asked for', async () => {
    const { time, provider, call, called, reads } = setUp('old', 'new');
    time.readTakes = 1_000;
    await call();
    time.ms = 299_999;
    expect(await call()).toBe('old');
    expect(reads()).toBe(1);
    time.ms = 300_000;
    provider.accepted = 'new';
    expect(await call()).toBe('new');
    expect([called, reads()]).toEqual([['old', 'old', 'new'], 2]);
  });

  test('a kept key that is refused is read again, and the call is made with the rotated one', async () => {
    const { provider, call, called, reads } = setUp('old', 'new');
    await call();
    provider.accepted = 'new';
    expect(await call()).toBe('new');
    expect(await call()).toBe('new');
    expect(called).toEqual(['old', 'old', 'new', 'new']);
    expect(reads()).toBe(2);
  });

  test('a refused key that has not changed is not sent again', async () => {
    const { provider, call, called, reads } = setUp('key', 'key');
    await call();
    provider.accepted = 'another';
    await expect(call()).rejects.toThrow(ProviderUnauthorized);
    expect(called).toEqual(['key', 'key']);
    expect(reads()).toBe(2);
  });

  test('a refused key that was just read is read again by the next call', async () => {
    const { provider, call, called } = setUp('wrong', 'right');
    provider.accepted = 'right';
    await expect(call()).rejects.toThrow(ProviderUnauthorized);
    expect(await call()).toBe('right');
    expect(called).toEqual(['wrong', 'right']);
  });

  test('without a stored key no call is made, and a read that failed is repeated', async () => {
    const answers = [new ResourceNotFoundException({ message: 'none', $metadata: {} }), new Error('denied')];
    const { client } = stubClient<SecretsManagerClient>(() => {
      const error = answers.shift();
      return error === undefined ? { SecretString: 'key' } : fail(error);
    });
    const withApiKey = withStoredApiKey(client, 'k', () => new Date(0));
    const call = () => withApiKey(async (apiKey) => apiKey);
    await expect(call()).rejects.toThrow(NotConfigured);
    await expect(call()).rejects.toThrow('denied');
    expect(await call()).toBe('key');
  });
});

test('a removal that gets no answer is tried twice, and holds its process for a second at most', async () => {
  const { baseUrl, seen } = await httpServer((response) => void response.destroy());
  const environment = {
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'a-secret',
    AWS_REGION: 'eu-west-1',
    AWS_ENDPOINT_URL_DYNAMODB: baseUrl,
    REQUESTS_TABLE: 'Requests',
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  await expect(
    requestsFromEnvironment(new DynamoDBClient()).remove('request-1', { taskId: undefined }),
  ).rejects.toThrow();
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.length * removingClient.requestHandler.requestTimeout).toBeLessThanOrEqual(1_000);
});

test('a session token is used until two minutes before it expires, and logins and refusals are counted', async () => {
  let logins = 0;
  const { baseUrl, seen } = await httpServer((response) => {
    logins += 1;
    response.end(JSON.stringify({ token: `session-${logins}` }));
  });
  deployed(baseUrl);
  const count = vi.spyOn(telemetry, 'count');
  const time = { ms: 0 };
  const { sessions } = providerFromEnvironment((call) => call('key'), {
    now: () => new Date(time.ms),
    maxAnswerBytes: 1_024,
  });
  expect(await sessions.current()).toBe('session-1');
  time.ms = 48 * 60_000 - 1;
  expect(await sessions.current()).toBe('session-1');
  time.ms += 1;
  expect(await sessions.current()).toBe('session-2');
  expect(seen.map(({ body }) => JSON.parse(body))).toEqual([{ expire: 50 }, { expire: 50 }]);
  sessions.drop('session-2');
  expect(count.mock.calls).toEqual([['LoggedIn'], ['LoggedIn'], ['SessionRefused']]);
});
