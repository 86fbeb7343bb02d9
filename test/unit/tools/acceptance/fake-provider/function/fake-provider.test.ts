import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isNationalId } from '../../../../../../lib/provider/national-id.ts';
import {
  ProviderAmbiguous,
  ProviderBusy,
  ProviderRefused,
  ProviderUnauthorized,
} from '../../../../../../lib/provider/transport/errors.ts';
import {
  consentDurations,
  consentOutcomes,
  formatNationalId,
  formatUsername,
  hangSeconds,
  largestResultBytes,
  longestTaskSeconds,
  outcomes,
  parseNationalId,
  parseUsername,
  plainScenario,
  readings,
  type Scenario,
  starts,
  webhooks,
} from '../../../../../../tools/acceptance/fake-provider/function/scenario.ts';
import { playProvider } from './played-provider.ts';

const withoutWebhook = {
  entity: 'any',
  credentials: { mode: 'raw', value: { username: formatUsername({}), password: 'any' } } as const,
  actions: [{ id: 'product-balance' }, { id: 'tef' }] as const,
};

const requestOf = (scenario: Partial<Scenario>, webhook = { enable: true, retries: 5 }) => ({
  ...withoutWebhook,
  credentials: { mode: 'raw', value: { username: formatUsername(scenario), password: 'any' } } as const,
  webhook,
});

test.each(outcomes)('a task ends as %s when its scenario says, and polls see it', async (outcome) => {
  const { client, clock } = playProvider();
  const taskId = await client.startTask(requestOf({ outcome, endsAfter: 30 }));
  expect(taskId.length).toBeLessThanOrEqual(100);
  clock.now += 29;
  expect(await client.readTask(taskId)).toMatchObject({ taskStatus: 'RUNNING', results: null });
  clock.now += 1;
  const { taskStatus, results } = await client.readTask(taskId);
  expect(taskStatus).toBe(outcome);
  const statuses = {
    COMPLETED: ['COMPLETED', 'COMPLETED'],
    PARTIAL: ['COMPLETED', 'FAILED'],
    FAILED: ['FAILED', 'FAILED'],
    CREDENTIALS_WRONG: undefined,
    CREDENTIALS_LOCKED: undefined,
  }[outcome];
  expect(results?.actions.map(({ status }) => status)).toEqual(statuses);
});

test.each(
  outcomes.flatMap((outcome) =>
    (['plain', 'encrypted'] as const).map((webhook) => [outcome, webhook] as const),
  ),
)('Cosecha verifies and reads the webhook of a task that ends as %s, %s', async (outcome, webhook) => {
  const { client, queued, deliverQueued, received } = playProvider();
  const taskId = await client.startTask(requestOf({ outcome, webhook, endsAfter: 30 }));
  expect(queued).toEqual([{ delivery: { taskId, attempt: 1 }, delaySeconds: 30 }]);
  await deliverQueued();
  expect(received).toEqual([{ answer: 204, taskId, recorded: outcome }]);
  expect(queued).toEqual([]);
});

test('a webhook that is not answered 200 or 204 is tried again every 30 s, as often as the request says', async () => {
  const { client, queued, deliverQueued, received } = playProvider(500);
  await client.startTask(requestOf({}, { enable: true, retries: 3 }));
  const delays: number[] = [];
  while (queued.length > 0) {
    delays.push(...queued.map(({ delaySeconds }) => delaySeconds));
    await deliverQueued();
  }
  expect(delays).toEqual([0, 30, 30]);
  expect(received).toHaveLength(3);
});

test.each([
  ['the scenario loses it', requestOf({ webhook: 'lost' })],
  ['the task never ends', requestOf({ endsAfter: 'never' })],
  ['the request has no webhook', withoutWebhook],
  ['the request disables it', requestOf({}, { enable: false, retries: 5 })],
])('there is no webhook if %s', async (_why, request) => {
  const { client, queued } = playProvider();
  await client.startTask(request);
  expect(queued).toEqual([]);
});

test('a task that never ends is running for ever', async () => {
  const { client, clock } = playProvider();
  const taskId = await client.startTask(requestOf({ endsAfter: 'never' }));
  clock.now += 1_000_000;
  expect(await client.readTask(taskId)).toMatchObject({ taskStatus: 'RUNNING' });
});

test('the webhook of the scenario after-webhook arrives before the start call is answered', async () => {
  const { client, received, queued } = playProvider();
  const taskId = await client.startTask(requestOf({ start: 'after-webhook', endsAfter: 30 }));
  // Nobody has read the queue.
  expect(received).toEqual([{ answer: 204, taskId, recorded: 'COMPLETED' }]);
  expect(queued).toEqual([]);
});

test('the provider is busy until the time in the scenario', async () => {
  const { client, clock } = playProvider();
  const request = requestOf({ busyUntil: clock.now + 10 });
  await expect(client.startTask(request)).rejects.toBeInstanceOf(ProviderBusy);
  clock.now += 10;
  await expect(client.startTask(request)).resolves.toBeTypeOf('string');
});

test('a refused start creates no task', async () => {
  const { client, queued } = playProvider();
  await expect(client.startTask(requestOf({ start: 'refused' }))).rejects.toBeInstanceOf(ProviderRefused);
  expect(queued).toEqual([]);
});

test.each(['hangs', 'breaks'] as const)('a start that %s creates a task nevertheless', async (start) => {
  const { client, queued, slept } = playProvider();
  await client.startTask(requestOf({ start })).catch((error: unknown) => {
    expect(error).toBeInstanceOf(ProviderAmbiguous);
  });
  expect(queued).toHaveLength(1);
  expect(slept).toEqual(start === 'hangs' ? [hangSeconds] : []);
});

test('reads may differ from the webhook', async () => {
  const { client, received, deliverQueued } = playProvider();
  const taskId = await client.startTask(requestOf({ outcome: 'COMPLETED', reads: 'FAILED' }));
  await deliverQueued();
  expect(received).toMatchObject([{ recorded: 'COMPLETED' }]);
  expect(await client.readTask(taskId)).toMatchObject({ taskStatus: 'FAILED' });
});

test('results have at least the size in the scenario', async () => {
  const { client } = playProvider();
  const taskId = await client.startTask(requestOf({ resultBytes: 100_000 }));
  const { results } = await client.readTask(taskId);
  expect(JSON.stringify(results).length).toBeGreaterThanOrEqual(100_000);
});

test('equal tasks have different ids', async () => {
  const { client } = playProvider();
  const [one, other] = [await client.startTask(requestOf({})), await client.startTask(requestOf({}))];
  expect(one).not.toBe(other);
});

test('the longest scenario fits into a taskId', async () => {
  const { client } = playProvider();
  const longest = {
    outcome: 'CREDENTIALS_LOCKED',
    reads: 'CREDENTIALS_LOCKED',
    resultBytes: 5_000_000,
  } as const;
  const taskId = await client.startTask(requestOf({ ...longest, endsAfter: 900, webhook: 'encrypted' }));
  expect(taskId.length).toBeLessThanOrEqual(100);
});

test('credentials that Cosecha encrypts under the session token are read', async () => {
  const { clientWith } = playProvider();
  const client = clientWith({ encryptRawCredentials: true });
  const taskId = await client.startTask(requestOf({ outcome: 'FAILED' }));
  expect(await client.readTask(taskId)).toMatchObject({ taskStatus: 'FAILED' });
});

test.each([
  ['a username without a scenario', { credentials: { mode: 'raw', value: { username: 'somebody' } } }],
  ['PARTIAL with one action', { ...requestOf({ outcome: 'PARTIAL' }), actions: [{ id: 'tef' }] }],
  ['persisted credentials', { credentials: { mode: 'persisted', value: 'any' } }],
  ['more actions than an id can hold', { actions: Array.from({ length: 50 }, () => ({ id: 'tef' })) }],
])('%s is refused', async (_what, fields) => {
  const { client } = playProvider();
  const request = { ...requestOf({}), ...fields } as ReturnType<typeof requestOf>;
  await expect(client.startTask(request)).rejects.toMatchObject({ name: 'ProviderRefused', status: 400 });
});

test('a wrong API key logs in nobody', async () => {
  const { clientWith } = playProvider();
  await expect(clientWith({ apiKey: 'another' }).sessionToken()).rejects.toBeInstanceOf(ProviderUnauthorized);
});

test('a taskId that the fake provider did not issue is unknown to polls, and sends no webhook', async () => {
  const { client, queued, deliverQueued, received } = playProvider();
  const taskId = await client.startTask(requestOf({ outcome: 'FAILED' }));
  const forged = taskId.replace('FAILED', 'COMPLETED');
  await expect(client.readTask(forged)).rejects.toMatchObject({ status: 404 });
  queued.splice(0, 1, { delivery: { taskId: forged, attempt: 1 }, delaySeconds: 0 });
  await deliverQueued();
  expect(received).toEqual([]);
});

const anyScenario = fc.record({
  outcome: fc.constantFrom(...outcomes),
  endsAfter: fc.oneof(fc.constant('never' as const), fc.integer({ min: 0, max: longestTaskSeconds })),
  webhook: fc.constantFrom(...webhooks),
  start: fc.constantFrom(...starts),
  busyUntil: fc.nat(4_000_000_000),
  reads: fc.constantFrom(...readings),
  resultBytes: fc.nat(largestResultBytes),
});

test('every scenario survives the username', () => {
  fc.assert(
    fc.property(anyScenario, (scenario) => {
      expect(parseUsername(formatUsername(scenario))).toEqual(scenario);
    }),
  );
});

test('a username omits what the plain scenario has', () => {
  expect(formatUsername(plainScenario)).toBe('fake:');
  expect(formatUsername({ outcome: 'PARTIAL', endsAfter: 30, webhook: 'plain' })).toBe(
    'fake:outcome=PARTIAL&endsAfter=30',
  );
});

test.each([
  ['somebody'],
  [undefined],
  ['fake:outcome=RUNNING'],
  ['fake:outcome=COMPLETED&outcome=FAILED'],
  ['fake:endsAfter=901'],
  ['fake:endsAfter=-1'],
  ['fake:endsAfter='],
  ['fake:resultBytes=5000001'],
  ['fake:colour=red'],
])('%s is no scenario', (username) => {
  expect(parseUsername(username)).toBeUndefined();
});

const now = 1_795_000_000;
const anyUser = fc.record({
  outcome: fc.constantFrom(...consentOutcomes),
  endsAfter: fc.constantFrom(...consentDurations),
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
  const scenario = { outcome: 'FAILED', endsAfter: 20, authorizedAt: now } as const;
  expect(formatNationalId(scenario)).toBe('24000000-8');
  expect(parseNationalId('24.000.000-8', now)).toEqual(scenario);
  expect(parseNationalId('240000008', now)).toEqual(scenario);
});

test.each([['24000000-5'], ['94000000-9'], ['1-9'], ['somebody'], [undefined]])(
  'the national id %s is no scenario',
  (nationalId) => {
    expect(parseNationalId(nationalId, now)).toBeUndefined();
  },
);
