import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { isNationalId } from '#lib/provider/national-id.ts';
import { ProviderUnauthorized } from '#lib/provider/transport/errors.ts';
import { createApp } from '#tools/acceptance/fake-provider/function/app.ts';
import {
  formatNationalId,
  formatUsername,
  largestResultBytes,
  maxTaskSeconds,
  outcomes,
  parseNationalId,
  parseUsername,
  starts,
  webhooks,
} from '#tools/acceptance/fake-provider/function/scenario.ts';
import { connectFakeProvider } from './client-and-fake-provider.ts';

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

test('a taskId that the fake provider did not issue is unknown to polls, and sends no webhook', async () => {
  const { client, queued, deliverQueued, received } = connectFakeProvider();
  const taskId = await client.startTask({
    entity: 'any',
    credentials: {
      mode: 'raw',
      value: { username: formatUsername({ outcome: 'FAILED' }), password: 'any' },
    },
    actions: [{ id: 'tef' }],
    webhook: { enable: true, retries: 5 },
  });
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
