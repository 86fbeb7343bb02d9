import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SandboxControl, sandboxControl } from '../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { callerOf } from '../caller.ts';
import { COMPANY, consentCallerOf, PERSON } from '../consent-caller.ts';

let sandbox: RunningSandbox;
let control: SandboxControl;
beforeAll(async () => {
  sandbox = await startSandbox({ now: () => Date.parse('2026-03-01T12:00:00Z') });
  control = sandboxControl(sandbox.baseUrl);
});
afterAll(() => sandbox.close());

test('a consent in progress is authorized without its page', async () => {
  const { consentId } = await consentCallerOf(sandbox).otp();
  expect(
    await control.authorizeConsent(consentId, { entityId: 'demo-afp', products: ['tef'] }),
  ).toMatchObject({
    status: 'ACTIVE',
    products: ['tef'],
    entity: { id: 'demo-afp' },
    validUntil: '2027-03-01T12:00:00.000Z',
  });
});

test('a consent is created in any state, and listed by its owner', async () => {
  const input = {
    owner: '77.777.777-7',
    products: ['debt'] as const,
    subStatus: 'INVALID_PASSWORD' as const,
  };
  const { consentId } = await control.createConsent({ ...input, products: [...input.products] });
  expect(await control.consents({ owner: COMPANY })).toMatchObject([
    {
      consentId,
      status: 'INACTIVE',
      subStatus: 'INVALID_PASSWORD',
      terminatedAt: '2026-03-01T12:00:00.000Z',
    },
  ]);
  // Set back to ACTIVE, it has no trace of its termination.
  const active = await control.alterConsent(consentId, { subStatus: 'ACTIVE', validForSeconds: 60 });
  expect(active).toMatchObject({ status: 'ACTIVE', validUntil: '2026-03-01T12:01:00.000Z' });
  expect(active).not.toHaveProperty('terminatedAt');
});

test('requests for an unknown consent, entity or task are refused', async () => {
  await expect(control.consent('unknown')).rejects.toMatchObject({ status: 404 });
  await expect(control.finishPolled('unknown')).rejects.toMatchObject({ status: 404 });
  await expect(control.createConsent({ owner: '1-1', products: ['tef'] })).rejects.toMatchObject({
    status: 400,
  });
  const elsewhere = { owner: PERSON, products: ['tef' as const], clientId: 'unknown' };
  await expect(control.createConsent(elsewhere)).rejects.toMatchObject({ status: 404 });
  const taken = { apiKey: sandbox.apiKey };
  await expect(control.setClient('another', taken)).rejects.toMatchObject({ status: 409 });
});

test('tokens are listed by kind and fingerprint, with expiry and use', async () => {
  await control.reset();
  const caller = consentCallerOf(sandbox);
  await callerOf(sandbox).login(5);
  const { otpToken } = await caller.otp();
  await fetch(`${sandbox.baseUrl}/widget?otpToken=${otpToken}`);
  await caller.get(await caller.taskToken(), '/api/v1/consents');
  const [call] = await control.calls({ path: '/api/v1/consents' });
  const { clientId } = sandbox;
  expect(await control.tokens()).toEqual([
    { kind: 'session', clientId, fingerprint: expect.any(String), expiresAt: '2026-03-01T12:05:00.000Z' },
    {
      kind: 'otp',
      clientId,
      fingerprint: expect.any(String),
      expiresAt: '2026-03-01T12:15:00.000Z',
      used: true,
    },
    { kind: 'task', clientId, fingerprint: call?.bearer, expiresAt: '2026-03-01T13:00:00.000Z' },
  ]);
});

test('a polled task is ended once, and calls are listed by consent', async () => {
  const caller = consentCallerOf(sandbox);
  const consentId = await caller.consent();
  const token = await caller.taskToken();
  const path = '/api/v1/products/retrieve-data/tasks';
  const { taskId } = (await caller.post(token, path, { product: 'movement', consentId })).body;
  expect((await control.finishPolled(taskId)).progress).toBe('ended');
  await expect(control.finishPolled(taskId)).rejects.toMatchObject({ status: 409 });
  expect(await control.calls({ consentId })).toMatchObject([
    { method: 'POST', path, status: 200, username: PERSON, taskId, consentId },
  ]);
});
