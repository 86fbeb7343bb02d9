import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SandboxControl, sandboxControl } from '../../../sandbox/control-client.ts';
import type { Plan } from '../../../sandbox/plan.ts';
import { type RunningSandbox, type SandboxOptions, startSandbox } from '../../../sandbox/sandbox.ts';
import { decryptedByOpenssl, openssl } from '../../../support/openssl.ts';
import { callerOf, requestFor } from '../caller.ts';
import { startReceiver } from '../receiver.ts';

const SIGNING_KEY = 'clave de firma ñ 1';

let sandbox: RunningSandbox;
let control: SandboxControl;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
afterEach(async () => {
  await sandbox.close();
  await receiver.close();
});
beforeEach(() => begin());

const begin = async (statuses: readonly number[] = [204], options: SandboxOptions = {}) => {
  receiver = await startReceiver(statuses);
  sandbox = await startSandbox({ taskDurationMs: 0, deliveryIntervalsMs: [0, 5, 10, 15, 20], ...options });
  control = sandboxControl(sandbox.baseUrl);
  await control.setWebhook(sandbox.clientId, { url: receiver.url, signingKey: SIGNING_KEY });
};

const beginAgain = async (statuses: readonly number[], options?: SandboxOptions) => {
  await sandbox.close();
  await receiver.close();
  await begin(statuses, options);
};

const startAnnounced = async (username: string, webhook: object = { enable: true }, plan?: Plan) => {
  if (plan !== undefined) await control.setPlan(username, plan);
  return callerOf(sandbox).startTask(requestFor(username, { webhook }));
};

const deliveriesEnded = (taskId: string) =>
  control.waitForEvent('deliveries-ended', (event) => event.taskId === taskId);

const attemptsOf = async (taskId: string) =>
  (await control.task(taskId)).deliveries.map(({ attempt, status, error }) => [attempt, status ?? error]);

test('a plain delivery is the document’s payload, signed as the openssl command signs it', async () => {
  const taskId = await startAnnounced('partial');
  await deliveriesEnded(taskId);
  expect(receiver.received).toHaveLength(1);
  const [delivery] = receiver.received;
  expect(JSON.parse(String(delivery?.body))).toEqual({ taskId, taskStatus: 'PARTIAL' });
  const signature = openssl.hmacHex(delivery?.body ?? Buffer.alloc(0), SIGNING_KEY);
  expect(delivery?.headers['x-service-signature']).toBe(`sha256=${signature}`);
});

test('an encrypted delivery is signed over its wrapper and opened by the openssl command', async () => {
  await control.setWebhook(sandbox.clientId, { mode: 'encrypted' });
  const taskId = await startAnnounced('failed');
  await deliveriesEnded(taskId);
  const [delivery] = receiver.received;
  const wrapper = JSON.parse(String(delivery?.body)) as { data: string };
  expect(Object.keys(wrapper)).toEqual(['data']);
  expect(JSON.parse(decryptedByOpenssl(wrapper.data, SIGNING_KEY))).toEqual({ taskId, taskStatus: 'FAILED' });
  const signature = openssl.hmacHex(delivery?.body ?? Buffer.alloc(0), SIGNING_KEY);
  expect(delivery?.headers['x-service-signature']).toBe(`sha256=${signature}`);
});

test('nothing is delivered unless the request enables it', async () => {
  const caller = callerOf(sandbox);
  await caller.startTask(requestFor('completed'));
  await caller.startTask(requestFor('completed', { webhook: { enable: false, retries: 5 } }));
  await deliveriesEnded(await startAnnounced('completed'));
  expect(receiver.received).toHaveLength(1);
});

test('nothing is delivered by a sandbox without webhooks, as by the provider’s own', async () => {
  await beginAgain([204], { webhooks: false });
  const taskId = await startAnnounced('completed');
  expect((await callerOf(sandbox).readTask(taskId)).taskStatus).toBe('COMPLETED');
  expect((await control.task(taskId)).deliveries).toEqual([]);
  expect(receiver.received).toEqual([]);
});

test('a delivery is retried until it is answered 200 or 204', async () => {
  await beginAgain([500, 202, 302, 200]);
  const taskId = await startAnnounced('completed', { enable: true, retries: 5 });
  expect((await deliveriesEnded(taskId)).delivered).toBe(true);
  expect(await attemptsOf(taskId)).toEqual([
    [1, 500],
    [2, 202],
    [3, 302],
    [4, 200],
  ]);
});

test('there are three attempts by default, and their failure is only recorded', async () => {
  await beginAgain([503]);
  const usual = await startAnnounced('completed');
  expect((await deliveriesEnded(usual)).delivered).toBe(false);
  expect(await attemptsOf(usual)).toHaveLength(3);
  const once = await startAnnounced('completed', { enable: true, retries: 1 });
  await deliveriesEnded(once);
  expect(await attemptsOf(once)).toHaveLength(1);
});

test('the documented schedule is an attempt at 0, 30, 60, 90 and 120 seconds', async () => {
  await sandbox.close();
  await receiver.close();
  receiver = await startReceiver([500]);
  sandbox = await startSandbox({ taskDurationMs: 0, now: () => Date.parse('2026-03-01T12:00:00Z') });
  control = sandboxControl(sandbox.baseUrl);
  await control.setWebhook(sandbox.clientId, { url: receiver.url });
  const taskId = await startAnnounced('completed', { enable: true, retries: 5 });
  for (const attempt of [1, 2, 3, 4, 5]) {
    await control.waitForEvent('delivery', (event) => event.delivery.attempt === attempt);
    expect(receiver.received).toHaveLength(attempt);
    await control.advanceClock(30);
  }
  expect((await control.task(taskId)).deliveries.map((delivery) => delivery.at.slice(14, 19))).toEqual([
    '00:00',
    '00:30',
    '01:00',
    '01:30',
    '02:00',
  ]);
});

test('an attempt that times out, is refused, or has no URL is recorded with its error', async () => {
  await beginAgain([204], { attemptTimeoutMs: 120_000 });
  const errorOf = async (url: string) => {
    await control.setWebhook(sandbox.clientId, { url });
    return (await control.deliver({ taskId: 'any', taskStatus: 'COMPLETED' })).error;
  };
  const gone = await startReceiver();
  await gone.close();
  expect(await errorOf(gone.url)).toBe('unreachable');

  await beginAgain([204], { attemptTimeoutMs: 50 });
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  expect(await errorOf(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`)).toBe('timeout');
  silent.close();

  const unconfigured = await startSandbox();
  const input = { taskId: 'any', taskStatus: 'COMPLETED' };
  expect(await sandboxControl(unconfigured.baseUrl).deliver(input)).toEqual({ error: 'not-configured' });
  await unconfigured.close();
});

test('each attempt is signed with the current key', async () => {
  await beginAgain([500, 204]);
  await control.setPlan('rotated', { webhook: { scheduleMs: [0, 600_000] } });
  const taskId = await startAnnounced('rotated');
  await control.waitForEvent('delivery', (event) => event.taskId === taskId);
  await control.setWebhook(sandbox.clientId, { signingKey: 'rotated key' });
  await control.advanceClock(600);
  await deliveriesEnded(taskId);
  const [before, after] = receiver.received;
  expect(before?.headers['x-service-signature']).toBe(
    `sha256=${openssl.hmacHex(before?.body ?? Buffer.alloc(0), SIGNING_KEY)}`,
  );
  expect(after?.headers['x-service-signature']).toBe(
    `sha256=${openssl.hmacHex(after?.body ?? Buffer.alloc(0), 'rotated key')}`,
  );
});

test('a plan drops attempts, or all of them', async () => {
  const some = await startAnnounced('drop-some', { enable: true }, { webhook: { drop: [1, 2] } });
  await deliveriesEnded(some);
  expect(await attemptsOf(some)).toEqual([
    [1, 'dropped'],
    [2, 'dropped'],
    [3, 204],
  ]);
  const all = await startAnnounced('drop-all', { enable: true }, { webhook: { enabled: false } });
  expect((await deliveriesEnded(all)).delivered).toBe(false);
  expect(receiver.received).toHaveLength(1);
});

test('a plan duplicates each attempt and continues after success', async () => {
  const taskId = await startAnnounced(
    'again',
    { enable: true, retries: 2 },
    {
      webhook: { duplicate: 1, keepRetryingAfterSuccess: true },
    },
  );
  await deliveriesEnded(taskId);
  expect(receiver.received).toHaveLength(4);
  expect(new Set(receiver.received.map(({ body }) => String(body))).size).toBe(1);
});

test('a plan changes status, fields, key, mode and body of its deliveries', async () => {
  const taskId = await startAnnounced(
    'odd',
    { enable: true, retries: 1 },
    {
      webhook: {
        statusOverride: 'PAUSED',
        extraFields: { version: 3 },
        signingKey: 'other',
        mode: 'encrypted',
      },
    },
  );
  await deliveriesEnded(taskId);
  const [odd] = receiver.received;
  const { data } = JSON.parse(String(odd?.body)) as { data: string };
  expect(JSON.parse(decryptedByOpenssl(data, 'other'))).toEqual({ taskId, taskStatus: 'PAUSED', version: 3 });
  expect((await control.task(taskId)).deliveries[0]?.signatureValid).toBe(false);

  const garbage = await startAnnounced(
    'garbage',
    { enable: true, retries: 1 },
    { webhook: { raw: 'not json' } },
  );
  await deliveriesEnded(garbage);
  expect(String(receiver.received[1]?.body)).toBe('not json');
  expect((await control.task(garbage)).deliveries[0]?.signatureValid).toBe(true);
});

test.each([
  ['signature', /^sha256=[0-9a-f]{64}$/],
  ['missing', undefined],
  ['malformed', /^sha256:[0-9a-f]{64}$/],
  ['truncated', /^sha256=[0-9a-f]{63}$/],
  ['non-ascii', /^sha256=[0-9a-f]{63}é$/],
  ['body', /^sha256=[0-9a-f]{64}$/],
] as const)('a delivery tampered with by %s does not verify', async (tamper, form) => {
  const taskId = await startAnnounced('tampered', { enable: true, retries: 1 }, { webhook: { tamper } });
  await deliveriesEnded(taskId);
  const [delivery] = receiver.received;
  const signature = delivery?.headers['x-service-signature'];
  if (form === undefined) expect(signature).toBeUndefined();
  else expect(signature).toMatch(form);
  expect(signature).not.toBe(`sha256=${openssl.hmacHex(delivery?.body ?? Buffer.alloc(0), SIGNING_KEY)}`);
  expect((await control.task(taskId)).deliveries[0]?.signatureValid).toBe(false);
});

test('the control interface sends a delivery for a task, and for an unknown task', async () => {
  await beginAgain([401]);
  const taskId = await callerOf(sandbox).startTask(requestFor('completed'));
  await control.waitForEvent('task-finished', (event) => event.taskId === taskId);
  expect(await control.deliverTask(taskId, { tamper: 'signature' })).toEqual({
    status: 401,
    body: 'answer 401',
  });
  expect(await control.deliver({ taskId: 'orphan', taskStatus: 'COMPLETED' })).toEqual({
    status: 401,
    body: 'answer 401',
  });
  expect(receiver.received.map(({ body }) => JSON.parse(String(body)))).toEqual([
    { taskId, taskStatus: 'COMPLETED' },
    { taskId: 'orphan', taskStatus: 'COMPLETED' },
  ]);
  expect((await control.task(taskId)).deliveries).toMatchObject([{ attempt: 0, status: 401 }]);
});
