import { afterEach, expect, test } from 'vitest';
import { type SandboxControl, sandboxControl } from '../../../../sandbox/control-client.ts';
import type { Plan } from '../../../../sandbox/plan-schemas.ts';
import { type RunningSandbox, startSandbox } from '../../../../sandbox/sandbox.ts';
import { decryptedByOpenssl, openssl } from '../../../support/programs/openssl.ts';
import { callerOf, requestFor } from '../caller.ts';
import { startReceiver } from '../webhook-receiver.ts';

// What the document says of deliveries is in test/provider-conformance. Here is what only a plan or an option decides.

const SIGNING_KEY = 'clave de firma ñ 1';

let sandbox: RunningSandbox;
let control: SandboxControl;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
afterEach(() => sandbox.close());

const begin = async (statuses: readonly number[] = [204]) => {
  receiver = await startReceiver(statuses);
  sandbox = await startSandbox({ taskDurationMs: 0, deliveryIntervalsMs: [0, 5, 10, 15, 20] });
  control = sandboxControl(sandbox.baseUrl);
  await control.setWebhook(sandbox.clientId, { url: receiver.url, signingKey: SIGNING_KEY });
};

const start = async (username: string, plan: Plan = {}): Promise<string> => {
  await control.setPlan(username, plan);
  return callerOf(sandbox).startTask(requestFor(username, { webhook: { enable: true } }));
};
const deliveriesOf = async (taskId: string) => {
  await control.waitForEvent('deliveries-ended', (event) => event.taskId === taskId);
  return (await control.task(taskId)).deliveries;
};

test('each attempt is signed with the current key', async () => {
  await begin([500, 204]);
  const taskId = await start('rotated', { webhook: { scheduleMs: [0, 600_000] } });
  await control.waitForEvent('delivery', (event) => event.taskId === taskId);
  await control.setWebhook(sandbox.clientId, { signingKey: 'rotated key' });
  await control.advanceClock(600);
  await deliveriesOf(taskId);
  const keys = [SIGNING_KEY, 'rotated key'];
  expect(receiver.received.map(({ headers }) => headers['x-service-signature'])).toEqual(
    receiver.received.map(
      ({ body }, index) => `sha256=${openssl.hmacHex(Buffer.from(body), keys[index] ?? '')}`,
    ),
  );
});

test('a plan drops attempts, or all of them', async () => {
  await begin();
  const some = await deliveriesOf(await start('drop-some', { webhook: { drop: [1, 2] } }));
  expect(some.map(({ status, error }) => status ?? error)).toEqual(['dropped', 'dropped', 204]);
  await deliveriesOf(await start('drop-all', { webhook: { enabled: false } }));
  expect(receiver.received).toHaveLength(1);
});

test('a plan changes status, fields, key, mode and body of its deliveries', async () => {
  await begin();
  const webhook = { statusOverride: 'PAUSED', extraFields: { version: 3 }, signingKey: 'other' };
  const taskId = await start('odd', { webhook: { ...webhook, mode: 'encrypted' } });
  expect(await deliveriesOf(taskId)).toMatchObject([{ signatureValid: false }]);
  const { data } = JSON.parse(receiver.received[0]?.body ?? '') as { data: string };
  expect(JSON.parse(decryptedByOpenssl(data, 'other'))).toEqual({ taskId, taskStatus: 'PAUSED', version: 3 });

  const garbage = await start('garbage', { webhook: { raw: 'not json' } });
  expect(await deliveriesOf(garbage)).toMatchObject([{ signatureValid: true }]);
  expect(receiver.received[1]?.body).toBe('not json');
});
