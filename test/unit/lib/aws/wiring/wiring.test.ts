import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ResourceNotFoundException, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { dynamoRequestStore } from '#lib/aws/dynamo-request-store.ts';
import { intakeClient, removingClient } from '#lib/aws/wiring/aws-client-timeouts.ts';
import { breakerFromEnvironment, breakersFromEnvironment } from '#lib/aws/wiring/breaker-from-environment.ts';
import { MissingEnvironmentVariable, requiredVariable } from '#lib/aws/wiring/environment.ts';
import {
  apiKeyFromEnvironment,
  createConnection,
  providerFromEnvironment,
  taskTokensFromEnvironment,
} from '#lib/aws/wiring/provider-from-environment.ts';
import { NotConfigured } from '#lib/not-configured.ts';
import { telemetry } from '#lib/observability/powertools-telemetry.ts';
import { ProviderUnauthorized } from '#lib/provider/transport/errors.ts';
import { fail, stubClient } from '../../../../support/aws/stub-client.ts';
import { answering } from '../../../../support/data/canned-connection.ts';
import { capturedLog } from '../../../../support/data/captured-log.ts';
import { at } from '../../../../support/data/extraction-fixtures.ts';
import { httpServer, rawServer } from '../../../../support/programs/stub-servers.ts';
import { variablesOf } from '../../../functions/run-function.ts';
import { functionsOf, synthesize } from '../../../infra/synth.ts';

test('no connection is waited for longer than providerConnectTimeoutMs, however long a call may take', async () => {
  const { port } = await rawServer(() => {});
  const connection = createConnection(`https://127.0.0.1:${port}`, { connect: 50, total: 60_000 }, 1);
  const call = connection.fetch(connection.baseUrl, {
    method: 'GET',
    headers: {},
    redirect: 'manual',
    signal: AbortSignal.timeout(5_000),
  });
  await expect(call).rejects.toMatchObject({ cause: { message: 'No connection in time.' } });
});

/** A cold start, and the other three calls, in milliseconds. */
const othersMs = 4_000;
/** API Gateway waits no longer for an integration. */
const apiGatewayMs = 30_000;

test('one call of request-extraction may hang for 10 s, and the function still answers in its time', () => {
  const { maxAttempts, requestHandler } = intakeClient;
  const hangMs = maxAttempts * requestHandler.requestTimeout;
  // The SDK pauses for a random part of 50 ms, and doubles that with each try.
  const pausesMs = 50 * (2 ** (maxAttempts - 1) - 1);
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

test('a Task Token is cached for its lifetime', async () => {
  const { tokens, calls, time } = setUp('old', 'new');
  for (time.ms of [0, 299_999, 300_000]) await tokens.current('11111111-1');
  expect(calls.map(({ headers }) => headers['x-api-key'])).toEqual(['old', 'new']);
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

/** The variables of a function that starts and reads, for a provider at this address. */
const deployed = (providerBaseUrl: string) => {
  const variables = { ...variablesOf('start-task'), PROVIDER_BASE_URL: providerBaseUrl };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
};

test('a slow start is reported once it takes breakerSlowCallSeconds, and the timer of one that has ended is cleared', () => {
  deployed('https://provider.example');
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.useFakeTimers();
  const { whenSlow } = breakerFromEnvironment(breakersFromEnvironment(new DynamoDBClient(), () => at(0)));
  const slow: string[] = [];
  whenSlow(() => slow.push('under way'));
  whenSlow(() => slow.push('ended'))();
  const { slowCallSeconds } = JSON.parse(variablesOf('start-task').BREAKER ?? '');
  vi.advanceTimersByTime(1_000 * slowCallSeconds - 1);
  expect(slow).toEqual([]);
  vi.advanceTimersByTime(1);
  expect([slow, vi.getTimerCount()]).toEqual([['under way'], 0]);
});

describe('the stored API key', () => {
  /** Calls with these keys, one for each read. A provider that accepts `accepted` alone. */
  const setUp = (...keys: string[]) => {
    const provider = { accepted: keys[0] };
    const time = { ms: 0, readTakes: 0 };
    const { client, sent } = stubClient<SecretsManagerClient>(() => {
      time.ms += time.readTakes;
      return { SecretString: keys.shift() };
    });
    deployed('https://provider.example');
    const withApiKey = apiKeyFromEnvironment(client, () => new Date(time.ms));
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
    deployed('https://provider.example');
    const withApiKey = apiKeyFromEnvironment(client, () => new Date(0));
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
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  await expect(
    dynamoRequestStore(new DynamoDBClient(), 'Requests', new DynamoDBClient(removingClient)).remove(
      'request-1',
      {
        taskId: undefined,
      },
    ),
  ).rejects.toThrow();
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.length * removingClient.requestHandler.requestTimeout).toBeLessThanOrEqual(1_000);
});

test('a session token is asked for with its minutes, and logins and refusals are counted', async () => {
  const { baseUrl, seen } = await httpServer((response) => void response.end('{"token":"session"}'));
  deployed(baseUrl);
  const count = vi.spyOn(telemetry, 'count');
  const connecting = { now: () => new Date(0), maxAnswerBytes: 1_024 };
  const { sessions } = providerFromEnvironment((call) => call('key'), connecting);
  sessions.drop(await sessions.current());
  const minutes = Number(variablesOf('start-task').SESSION_MINUTES);
  expect(seen.map(({ body }) => JSON.parse(body))).toEqual([{ expire: minutes }]);
  expect(count.mock.calls).toEqual([['LoggedIn'], ['SessionRefused']]);
});
