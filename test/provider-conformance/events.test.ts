import { beforeEach, describe, expect } from 'vitest';
import { decryptText } from '#lib/provider/encrypt-and-decrypt.ts';
import { createProviderClient, type TaskRequest } from '#lib/provider/index.ts';
import { parseDelivery } from '#lib/webhook/receive-delivery.ts';
import { signingKeyOf, verifySignature } from '#lib/webhook/verify-signature.ts';
import { sandboxControl } from '../../sandbox/control-client.ts';
import type { Plan } from '../../sandbox/plan-schemas.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { decryptedByOpenssl, openssl } from '../support/programs/openssl.ts';
import { httpServer } from '../support/programs/stub-servers.ts';
import { startReceiver } from '../unit/sandbox/webhook-receiver.ts';
import {
  client,
  clientWith,
  control,
  legacyEndOf,
  newUser,
  plannedUser,
  server,
  statement,
  taskOf,
  waiting,
} from './server-under-test.ts';

/**
 * Section "Events" of the provider's API document. The sandbox sends the deliveries. The code of `lib/webhook` and the
 * `openssl` command read them.
 */

const signingKey = 'clave de firma ñ';
let receiver: Awaited<ReturnType<typeof startReceiver>>;

const receiveWith = async (statuses: readonly number[]): Promise<void> => {
  receiver = await startReceiver(statuses);
  await control().setWebhook(server.clientId, { url: receiver.url, signingKey, mode: 'plain' });
};

beforeEach(async () => {
  if (server.control === undefined) return;
  await receiveWith([204]);
});

type Webhook = NonNullable<TaskRequest['webhook']>;

/** Starts a task that ends at once, and returns its id after the last delivery. */
const announced = async (webhook?: Webhook, plan: Plan = {}): Promise<string> => {
  const request = taskOf(await plannedUser({ durationMs: 0, ...plan }));
  const taskId = await client.startTask(webhook === undefined ? request : { ...request, webhook });
  const last = webhook?.enable === true ? 'deliveries-ended' : 'task-finished';
  await control().waitForEvent(last, (event) => event.taskId === taskId);
  return taskId;
};

/** "webhook retry interval" in the table of limits. */
const intervalSeconds = 30;

/**
 * Advances the clock past each retry. Returns the seconds from the end of the task to each attempt, in whole intervals: an
 * attempt is never early, and late by what a busy machine needs.
 */
const attemptsAfter = async (retries?: number): Promise<readonly number[]> => {
  const user = await plannedUser({ durationMs: 0 });
  const webhook = { enable: true, ...(retries === undefined ? {} : { retries }) };
  const taskId = await client.startTask({ ...taskOf(user), webhook });
  const expected = retries ?? 3;
  for (let attempt = 1; attempt <= expected; attempt += 1) {
    await control().waitForEvent(
      'delivery',
      (event) => event.taskId === taskId && event.delivery.attempt === attempt,
    );
    if (attempt < expected) await control().advanceClock(intervalSeconds);
  }
  await control().waitForEvent('deliveries-ended', (event) => event.taskId === taskId);
  const { finishedAt = '', deliveries } = await control().task(taskId);
  return deliveries.map(({ at }) => {
    const seconds = (Date.parse(at) - Date.parse(finishedAt)) / 1_000;
    return Math.floor(seconds / intervalSeconds) * intervalSeconds;
  });
};

const signatureOf = (index: number): string =>
  String(receiver.received[index]?.headers['x-service-signature']);
const bodyOf = (index: number): Buffer => Buffer.from(receiver.received[index]?.body ?? '');

describe('Activation', () => {
  statement('URL, signing key and mode are configured per client: without them nothing is sent', async () => {
    const other = { clientId: '00000000-0000-4000-8000-00000000cccc', apiKey: 'unconfigured-key' };
    await control().setClient(other.clientId, { apiKey: other.apiKey });
    const user = await plannedUser({ durationMs: 0 });
    const webhook = { enable: true, retries: 1 };
    const taskId = await clientWith(other).startTask({ ...taskOf(user), webhook });
    await control().waitForEvent('deliveries-ended', (event) => event.taskId === taskId);
    expect((await control().task(taskId)).deliveries).toMatchObject([{ error: 'not-configured' }]);
    expect(receiver.received).toEqual([]);
  });
});

describe('Request field webhook', () => {
  statement('when it is omitted, or enable is false, nothing is sent', async () => {
    for (const taskId of [await announced(), await announced({ enable: false, retries: 5 })]) {
      expect((await control().task(taskId)).deliveries).toEqual([]);
    }
  });
});

describe('Trigger', () => {
  statement('a terminal status is delivered by an HTTP POST', async () => {
    for (const outcome of [
      'COMPLETED',
      'PARTIAL',
      'FAILED',
      'CREDENTIALS_WRONG',
      'CREDENTIALS_LOCKED',
    ] as const) {
      const taskId = await announced({ enable: true }, { outcome });
      expect(JSON.parse(bodyOf(receiver.received.length - 1).toString())).toEqual({
        taskId,
        taskStatus: outcome,
      });
    }
  });

  statement('PENDING and RUNNING never produce one', async () => {
    const user = await plannedUser({ durationMs: null });
    const taskId = await client.startTask({ ...taskOf(user), webhook: { enable: true } });
    await control().advanceClock(3_600);
    expect(await client.readTask(taskId)).toMatchObject({ taskStatus: 'RUNNING' });
    expect((await control().task(taskId)).deliveries).toEqual([]);
  });
});

describe('Payload', () => {
  // Not shown: Events: length of `taskId` in a delivery
  statement('in plain mode it is taskId and taskStatus', async () => {
    const taskId = await announced({ enable: true });
    expect(JSON.parse(bodyOf(0).toString())).toEqual({ taskId, taskStatus: 'COMPLETED' });
    expect(parseDelivery(bodyOf(0), signingKey)).toEqual({
      kind: 'terminal',
      taskId,
      taskStatus: 'COMPLETED',
    });
  });

  statement(
    'in encrypted mode it is {data}, which the shared key decrypts to the plain payload',
    async () => {
      await control().setWebhook(server.clientId, { mode: 'encrypted' });
      const taskId = await announced({ enable: true });
      const payload = { taskId, taskStatus: 'COMPLETED' };
      const wrapper = JSON.parse(bodyOf(0).toString()) as { data: string };
      expect(Object.keys(wrapper)).toEqual(['data']);
      expect(JSON.parse(decryptText(wrapper.data, signingKey).toString())).toEqual(payload);
      expect(JSON.parse(decryptedByOpenssl(wrapper.data, signingKey))).toEqual(payload);
      expect(parseDelivery(bodyOf(0), signingKey)).toEqual({ kind: 'terminal', ...payload });
    },
  );
});

describe('Signature', () => {
  const another = signingKeyOf('another');
  const key = signingKeyOf(signingKey);
  // Not shown: Events: case of the hex digits
  // Not shown: Events: encoding of the shared key
  statement('X-Service-Signature is sha256= and the HMAC-SHA256 of the raw body, in both modes', async () => {
    await announced({ enable: true });
    await control().setWebhook(server.clientId, { mode: 'encrypted' });
    await announced({ enable: true });
    for (const index of [0, 1]) {
      expect(signatureOf(index)).toBe(`sha256=${openssl.hmacHex(bodyOf(index), signingKey)}`);
      expect(verifySignature(signatureOf(index), bodyOf(index), [another, key])).toEqual({
        verified: true,
        key: signingKey,
      });
    }
  });

  statement('a delivery with another body, key or signature is not verified', async () => {
    const taskId = await announced({ enable: true });
    expect(verifySignature(signatureOf(0), bodyOf(0), [another])).toMatchObject({ verified: false });
    for (const tamper of ['signature', 'missing', 'malformed', 'truncated', 'body'] as const) {
      await control().deliverTask(taskId, { tamper });
      const last = receiver.received.at(-1);
      const header = last?.headers['x-service-signature'];
      const text = header === undefined ? undefined : String(header);
      const verification = verifySignature(text, Buffer.from(last?.body ?? ''), [key]);
      expect(verification, tamper).toMatchObject({ verified: false });
    }
  });
});

describe('Delivery', () => {
  statement('200 and 204 are success; anything else is delivered again', async () => {
    for (const [statuses, attempts] of [
      [[200], 1],
      [[204], 1],
      [[202, 204], 2],
      [[302, 204], 2],
      [[401, 500, 204], 3],
    ] as const) {
      await receiveWith(statuses);
      await announced({ enable: true, retries: 5 }, { webhook: { scheduleMs: [0, 5, 10, 15, 20] } });
      expect(receiver.received).toHaveLength(attempts);
    }
  });

  // Not shown: Events: attempts 4 and 5
  statement(
    'attempts are made when the task ends, after 30 s, after 60 s, and so on up to retries',
    async () => {
      await receiveWith([503]);
      expect(await attemptsAfter(5)).toEqual([0, 30, 60, 90, 120]);
      expect(await attemptsAfter(1)).toEqual([0]);
      // The default is 3.
      expect(await attemptsAfter()).toEqual([0, 30, 60]);
    },
  );

  statement('an attempt waits at most 5 seconds for the answer', async () => {
    const silent = await httpServer(() => {});
    await control().setWebhook(server.clientId, { url: silent.baseUrl });
    const before = performance.now();
    const taskId = await announced({ enable: true, retries: 1 });
    const waited = performance.now() - before;
    expect((await control().task(taskId)).deliveries).toMatchObject([{ error: 'timeout' }]);
    expect(waited).toBeGreaterThan(4_900);
    // Generous for a busy machine, and still less than an endless wait.
    expect(waited).toBeLessThan(60_000);
  });

  statement('when all attempts fail, the client reads the task', async () => {
    await receiveWith([500]);
    const taskId = await announced({ enable: true, retries: 1 });
    expect((await control().task(taskId)).deliveries).toMatchObject([{ status: 500 }]);
    expect(await client.waitForTask(taskId, waiting)).toMatchObject({ taskStatus: 'COMPLETED' });
  });
});

describe('Elsewhere', () => {
  // Not shown: Events: events of the consent flow and of v1 tasks
  statement('events of the consent flow and of v1 tasks are not shown: none is sent', async () => {
    const credentials = await plannedUser({ durationMs: 0 });
    await legacyEndOf({ action: 'demo-bank:tef', credentials, webhook: true });
    await control().advanceClock(600);
    // A v2 task that ends later is delivered, so the other one has no pending delivery.
    const later = await announced({ enable: true });
    expect(receiver.received.map(({ body }) => JSON.parse(body).taskId)).toEqual([later]);
  });

  statement("the webhook is never sent in the provider's sandbox, even if it is requested", async () => {
    const quiet = await startSandbox({ taskDurationMs: 0, webhooks: false });
    try {
      await sandboxControl(quiet.baseUrl).setWebhook(quiet.clientId, { url: receiver.url });
      const own = createProviderClient({ ...quiet });
      const taskId = await own.startTask({ ...taskOf(newUser()), webhook: { enable: true } });
      expect(await own.waitForTask(taskId, waiting)).toMatchObject({ taskStatus: 'COMPLETED' });
      expect((await sandboxControl(quiet.baseUrl).task(taskId)).deliveries).toEqual([]);
    } finally {
      await quiet.close();
    }
  });
});
