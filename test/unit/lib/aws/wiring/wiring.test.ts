import { type AddressInfo, createServer } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient, ListAliasesCommand } from '@aws-sdk/client-kms';
import { ResourceNotFoundException, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { intakeClient, removingClient } from '../../../../../lib/aws/wiring/client-options.ts';
import { MissingEnvironmentVariable, requiredVariable } from '../../../../../lib/aws/wiring/environment.ts';
import {
  apiKeyFromEnvironment,
  providerFromEnvironment,
  taskTokensFromEnvironment,
} from '../../../../../lib/aws/wiring/provider-from-environment.ts';
import { reconcilerFromEnvironment } from '../../../../../lib/aws/wiring/reconciler.ts';
import { requestsFromEnvironment } from '../../../../../lib/aws/wiring/requests-from-environment.ts';
import { withStoredApiKey } from '../../../../../lib/aws/wiring/stored-api-key.ts';
import { NotConfigured } from '../../../../../lib/not-configured.ts';
import { ProviderUnauthorized } from '../../../../../lib/provider/transport/errors.ts';
import { answering } from '../../../../support/canned-connection.ts';
import { capturedLog } from '../../../../support/captured-log.ts';
import { at, extractionIn, id, timings } from '../../../../support/extraction-fixtures.ts';
import { httpServer } from '../../../../support/local-servers.ts';
import { closedCircuit } from '../../../../support/memory-breaker-store.ts';
import { fail, stubClient } from '../../../../support/stub-client.ts';
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

afterEach(() => {
  delete process.env.COSECHA_TEST_VALUE;
});

test('a variable that is set is given', () => {
  process.env.COSECHA_TEST_VALUE = 'value';
  expect(requiredVariable('COSECHA_TEST_VALUE')).toBe('value');
});

test.each([undefined, ''])('a variable that is %j is named in the error', (value) => {
  if (value !== undefined) process.env.COSECHA_TEST_VALUE = value;
  expect(() => requiredVariable('COSECHA_TEST_VALUE')).toThrow(MissingEnvironmentVariable);
  expect(() => requiredVariable('COSECHA_TEST_VALUE')).toThrow('COSECHA_TEST_VALUE');
});

beforeEach(() => {
  vi.stubEnv('PROVIDER_API_KEY_SECRET', 'stack/provider-api-key');
  vi.stubEnv('PROVIDER_CLIENT_ID', 'client');
  vi.stubEnv('TASK_TOKEN_MINUTES', '5');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** Tokens tt-1, tt-2, … of a provider; the secret's keys are those given, one per read. */
const setUp = (...keys: string[]) => {
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
  vi.stubEnv('PROVIDER_CLIENT_ID', '');
  const { tokens, calls } = setUp('key');
  await expect(tokens.current('11111111-1')).rejects.toThrow(NotConfigured);
  expect(calls).toEqual([]);
});

capturedLog();

type Command = {
  readonly input: { readonly TableName?: string; readonly Item?: { readonly name?: { readonly S: string } } };
};

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** The address of a port that refuses connections. */
const refusing = async (): Promise<string> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
};

test('a failed login of a read is counted for the breaker of starts, too', async () => {
  const environment = {
    AWS_REGION: 'eu-west-1',
    BREAKER: JSON.stringify({
      failures: 5,
      openSeconds: 30,
      maxOpenSeconds: 300,
      probeSeconds: 60,
      slowCallSeconds: 5,
    }),
    BREAKERS_TABLE: 'Breakers',
    EXTRACTIONS_TABLE: 'Extractions',
    PROVIDER_API_KEY_SECRET: 'provider-api-key',
    PROVIDER_BASE_URL: await refusing(),
    PROVIDER_TIMEOUTS: JSON.stringify({ connect: 5_000, total: 20_000 }),
    RECONCILE_QUEUE_URL: 'https://queue.example',
    REQUESTS_TABLE: 'Requests',
    RESULTS_BUCKET: 'results',
    RESULTS_MAX_BYTES: '1024',
    SEAL_KEY_ARN: 'arn:aws:kms:eu-west-1:111122223333:key/1',
    SESSION_MINUTES: '50',
    TASKS_TABLE: 'Tasks',
    TASK_TOKEN_MINUTES: '5',
    TIMINGS: JSON.stringify(timings),
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const items: Readonly<Record<string, object>> = {
    Extractions: extractionIn('RUNNING'),
    Tasks: { taskId: 'task-1', extractionId: id },
  };
  const counted = new Set<string | undefined>();
  vi.spyOn(SecretsManagerClient.prototype, 'send').mockImplementation(async () => ({ SecretString: 'key' }));
  vi.spyOn(DynamoDBClient.prototype, 'send').mockImplementation(async (command: unknown) => {
    const { input } = command as Command;
    if (input.Item !== undefined) counted.add(input.Item.name?.S);
    const item = items[input.TableName ?? ''];
    return item === undefined ? {} : { Item: marshall(item) };
  });

  const { reconcileOne } = reconcilerFromEnvironment(() => at(100));
  expect(await reconcileOne(id, { kind: 'machine' })).toMatchObject({ why: 'ProviderUnreachable' });
  expect(counted).toEqual(new Set(['reads', 'starts']));
});

describe('stored-api-key', () => {
  /** Calls with these keys, one for each read. A provider that accepts `accepted` alone. */
  const setUp = (...keys: string[]) => {
    const { client, sent } = stubClient<SecretsManagerClient>(() => ({ SecretString: keys.shift() }));
    const provider = { accepted: keys[0] };
    const time = { ms: 0 };
    const withApiKey = withStoredApiKey(client, 'stack/provider-api-key', () => new Date(time.ms));
    const called: string[] = [];
    const call = () =>
      withApiKey(async (apiKey) => {
        called.push(apiKey);
        return apiKey === provider.accepted ? apiKey : fail(new ProviderUnauthorized('401'));
      });
    return { provider, time, call, called, reads: () => sent.length };
  };

  test('the key is read once in five minutes', async () => {
    const { time, provider, call, reads } = setUp('old', 'new');
    await call();
    time.ms = 299_999;
    expect(await call()).toBe('old');
    expect(reads()).toBe(1);
    time.ms = 300_000;
    provider.accepted = 'new';
    expect(await call()).toBe('new');
    expect(reads()).toBe(2);
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
    requestsFromEnvironment(new DynamoDBClient()).remove('request-1', undefined),
  ).rejects.toThrow();
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.length * removingClient.requestHandler.requestTimeout).toBeLessThanOrEqual(1_000);
});

test('a session token is used until two minutes before it expires', async () => {
  let logins = 0;
  const { baseUrl, seen } = await httpServer((response) => {
    logins += 1;
    response.end(JSON.stringify({ token: `session-${logins}` }));
  });
  vi.stubEnv('PROVIDER_BASE_URL', baseUrl);
  vi.stubEnv('PROVIDER_TIMEOUTS', JSON.stringify({ connect: 5_000, total: 20_000 }));
  vi.stubEnv('SESSION_MINUTES', '50');
  const time = { ms: 0 };
  const { sessions } = providerFromEnvironment((call) => call('key'), {
    now: () => new Date(time.ms),
    maxAnswerBytes: 1_024,
    alsoCountLoginsFor: closedCircuit,
  });
  expect(await sessions.current()).toBe('session-1');
  time.ms = 48 * 60_000 - 1;
  expect(await sessions.current()).toBe('session-1');
  time.ms += 1;
  expect(await sessions.current()).toBe('session-2');
  expect(seen.map(({ body }) => JSON.parse(body))).toEqual([{ expire: 50 }, { expire: 50 }]);
});
