import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { isNationalId } from '#lib/provider/national-id.ts';
import { ProviderUnauthorized } from '#lib/provider/transport/errors.ts';
import { createApp } from '../../../../../../tools/acceptance/fake-provider/function/app.ts';
import {
  formatNationalId,
  formatUsername,
  largestResultBytes,
  maxTaskSeconds,
  outcomes,
  parseNationalId,
  parseUsername,
  type Scenario,
  starts,
  webhooks,
} from '../../../../../../tools/acceptance/fake-provider/function/scenario.ts';
import { connectFakeProvider } from './client-and-fake-provider.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const requestOf = (scenario: Partial<Scenario>, webhook = { enable: true, retries: 5 }) => ({
  entity: 'any',
  credentials: { mode: 'raw', value: { username: formatUsername(scenario), password: 'any' } } as const,
  actions: [{ id: 'product-balance' }, { id: 'tef' }] as const,
  webhook,
});

test('a webhook that is not answered 200 or 204 is tried again every 30 s, as often as the request says', async () => {
  const { client, queued, deliverQueued, received } = connectFakeProvider(500);
  await client.startTask(requestOf({}, { enable: true, retries: 3 }));
  const delays: number[] = [];
  while (queued.length > 0) {
    delays.push(...queued.map(({ delaySeconds }) => delaySeconds));
    await deliverQueued();
  }
  expect(delays).toEqual([0, 30, 30]);
  expect(received).toHaveLength(3);
});

test('the longest scenario fits into a taskId', async () => {
  const { client } = connectFakeProvider();
  const longest = { outcome: 'CREDENTIALS_LOCKED', resultBytes: 5_000_000 } as const;
  const scenario = requestOf({ ...longest, endsAfter: 900, webhook: 'encrypted' });
  const taskId = await client.startTask({ ...scenario, actions: Array(5).fill({ id: 'tef' }) });
  expect(taskId.length).toBeLessThanOrEqual(100);
});

test.each([
  ['a username without a scenario', { credentials: { mode: 'raw', value: { username: 'somebody' } } }],
  ['PARTIAL with one action', { ...requestOf({ outcome: 'PARTIAL' }), actions: [{ id: 'tef' }] }],
  ['persisted credentials', { credentials: { mode: 'persisted', value: 'any' } }],
  ['more actions than an id can hold', { actions: Array.from({ length: 50 }, () => ({ id: 'tef' })) }],
])('%s is refused', async (_what, fields) => {
  const { client } = connectFakeProvider();
  const request = { ...requestOf({}), ...fields } as ReturnType<typeof requestOf>;
  await expect(client.startTask(request)).rejects.toMatchObject({ name: 'ProviderRefused', status: 400 });
});

test.each([
  ['COMPLETED', ['COMPLETED', 'COMPLETED']],
  ['PARTIAL', ['COMPLETED', 'FAILED']],
  ['FAILED', ['FAILED', 'FAILED']],
  ['CREDENTIALS_WRONG', undefined],
] as const)('a task that ends %s has the results of its actions', async (outcome, expected) => {
  const { client } = connectFakeProvider();
  const { results } = await client.readTask(await client.startTask(requestOf({ outcome })));
  const actions = (results as { actions: { status: string }[] } | null)?.actions;
  expect(actions?.map(({ status }) => status)).toEqual(expected);
});

test('a wrong API key logs in nobody', async () => {
  const { clientWith } = connectFakeProvider();
  await expect(clientWith({ apiKey: 'another' }).sessionToken()).rejects.toBeInstanceOf(ProviderUnauthorized);
});

test.each<readonly [string, Readonly<Record<string, string>>]>([
  ['no header', {}],
  ['no Bearer token', { authorization: 'Basic dTpw' }],
])('a request with %s of credentials reads no secret', async (_what, headers) => {
  const { ports } = connectFakeProvider();
  const [tokenKey, registration] = [vi.fn(ports.tokenKey), vi.fn(ports.registration)];
  const app = createApp({ ...ports, tokenKey, registration });
  for (const path of ['/api/v1/auth/login', '/api/v2/tasks', '/nowhere']) {
    expect((await app.request(path, { method: 'POST', headers, body: '{}' })).status).toBe(401);
  }
  expect([tokenKey, registration].flatMap(({ mock }) => mock.calls)).toEqual([]);
});

test('requests within seconds share one read of each secret', async () => {
  const read = vi.spyOn(SecretsManagerClient.prototype, 'send').mockImplementation((async () => ({
    SecretString: '{"apiKey":"k"}',
  })) as () => never);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  for (const name of ['registration', 'token-key', 'delivery-queue']) {
    const variable = name.toUpperCase().replaceAll('-', '_');
    vi.stubEnv(`${variable}_${name === 'delivery-queue' ? 'URL' : 'SECRET'}`, name);
  }
  const { handler } = await import(
    '../../../../../../tools/acceptance/fake-provider/function/fake-provider.ts'
  );
  const event = {
    version: '2.0',
    rawPath: '/api/v1/auth/login',
    rawQueryString: '',
    headers: { 'x-api-key': 'k', 'content-type': 'application/json' },
    body: '{}',
    isBase64Encoded: false,
    requestContext: { http: { method: 'POST' }, domainName: 'provider.example' },
  };
  const statuses = [];
  for (const _ of Array(3)) statuses.push((await handler(event as never, {} as never)).statusCode);
  expect({ statuses, reads: read.mock.calls.length }).toEqual({ statuses: [200, 200, 200], reads: 2 });
});

test('a taskId that the fake provider did not issue is unknown to polls, and sends no webhook', async () => {
  const { client, queued, deliverQueued, received } = connectFakeProvider();
  const taskId = await client.startTask(requestOf({ outcome: 'FAILED' }));
  const forged = taskId.replace('FAILED', 'COMPLETED');
  await expect(client.readTask(forged)).rejects.toMatchObject({ status: 404 });
  queued.splice(0, 1, { delivery: { taskId: forged, attempt: 1 }, delaySeconds: 0 });
  await deliverQueued();
  expect(received).toEqual([]);
});

const anyScenario = fc.record({
  outcome: fc.constantFrom(...outcomes),
  endsAfter: fc.oneof(fc.constant('never' as const), fc.integer({ min: 0, max: maxTaskSeconds })),
  webhook: fc.constantFrom(...webhooks),
  start: fc.constantFrom(...starts),
  busyUntil: fc.nat(4_000_000_000),
  resultBytes: fc.nat(largestResultBytes),
});

test('every scenario survives the username', () => {
  fc.assert(
    fc.property(anyScenario, (scenario) => {
      expect(parseUsername(formatUsername(scenario))).toEqual(scenario);
    }),
  );
});

test.each([
  undefined,
  'somebody',
  'fake:outcome=RUNNING',
  'fake:outcome=COMPLETED&outcome=FAILED',
  'fake:endsAfter=901',
  'fake:endsAfter=-1',
  'fake:endsAfter=',
  'fake:resultBytes=5000001',
  'fake:colour=red',
])('%s is no scenario', (username) => {
  expect(parseUsername(username)).toBeUndefined();
});

const now = 1_795_000_000;
const anyUser = fc.record({
  // A number of zero is no national id.
  endsAfter: fc.integer({ min: 1, max: 999 }),
  authorizedAt: fc.integer({ min: now - 432_000, max: now + 432_000 }),
});

test('every scenario by consent survives a national id that Cosecha accepts', () => {
  fc.assert(
    fc.property(anyUser, (scenario) => {
      const nationalId = formatNationalId(scenario);
      expect(isNationalId(nationalId)).toBe(true);
      expect(parseNationalId(nationalId, now)).toEqual(scenario);
    }),
  );
});

test('dots and hyphen of a national id are optional', () => {
  const scenario = { endsAfter: 24, authorizedAt: now };
  expect(formatNationalId(scenario)).toBe('24000000-8');
  expect(parseNationalId('24.000.000-8', now)).toEqual(scenario);
  expect(parseNationalId('240000008', now)).toEqual(scenario);
});

test.each(['24000000-5', '1-9', 'somebody', ''])('the national id %s is no scenario', (nationalId) => {
  expect(parseNationalId(nationalId, now)).toBeUndefined();
});
