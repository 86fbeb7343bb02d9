import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SandboxControl, sandboxControl } from '../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { SUB_STATUSES } from '../../../sandbox/state.ts';
import { COMPANY, consentCallerOf, OTHER_PERSON, PERSON } from '../consent-caller.ts';

const YEAR_SECONDS = 365 * 24 * 3600;

let sandbox: RunningSandbox;
let control: SandboxControl;
beforeEach(async () => {
  sandbox = await startSandbox({ now: () => Date.parse('2026-03-01T12:00:00Z') });
  control = sandboxControl(sandbox.baseUrl);
});
afterEach(() => sandbox.close());

test('an authorized consent has every field of the document, and terminatedAt only once it is terminated', async () => {
  const caller = consentCallerOf(sandbox);
  const token = await caller.taskToken();
  const consentId = await caller.consent();
  const path = `/api/v1/consents/${consentId}`;
  expect((await caller.get(token, path)).body).toEqual({
    data: {
      id: consentId,
      products: ['movement'],
      tyc: { actualVersion: 1 },
      entity: { id: 'demo-bank', name: 'Demo Bank', type: 'bank' },
      status: 'ACTIVE',
      subStatus: 'ACTIVE',
      validUntil: '2027-03-01T12:00:00.000Z',
    },
  });
  const revoked = await caller.post(token, '/api/v1/consents/revoke', { consentId });
  expect(revoked).toEqual({
    status: 200,
    body: { data: { consentId, status: 'INACTIVE', subStatus: 'REVOKED' } },
  });
  expect((await caller.get(token, path)).body.data).toMatchObject({
    status: 'INACTIVE',
    subStatus: 'REVOKED',
    terminatedAt: '2026-03-01T12:00:00.000Z',
  });
});

test('only an active consent can be revoked, and only by its user', async () => {
  const caller = consentCallerOf(sandbox);
  const token = await caller.taskToken();
  const revoke = async (consentId: string) =>
    (await caller.post(token, '/api/v1/consents/revoke', { consentId })).status;
  const consentId = await caller.consent();
  expect(await revoke(consentId)).toBe(200);
  expect(await revoke(consentId)).toBe(409);
  expect(await revoke((await caller.otp()).consentId)).toBe(409);
  expect(await revoke(await caller.consent(OTHER_PERSON))).toBe(404);
  expect(await revoke('not-a-uuid')).toBe(400);
});

test('the list has only the consents of the token’s user, ten to a page by default', async () => {
  const caller = consentCallerOf(sandbox);
  const ids: string[] = [];
  for (let made = 0; made < 12; made += 1) ids.push(await caller.consent(COMPANY));
  const token = await caller.taskToken(COMPANY);
  const page = async (query: string) => {
    const { consents, hasNext, count } = (await caller.get(token, `/api/v1/consents${query}`)).body.data;
    return { ids: consents.map(({ id }: { id: string }) => id), hasNext, count };
  };
  expect(await page('')).toEqual({ ids: ids.slice(0, 10), hasNext: true, count: 12 });
  expect(await page('?page=2')).toEqual({ ids: ids.slice(10), hasNext: false, count: 12 });
  expect(await page('?page=3&limit=4')).toEqual({ ids: ids.slice(8), hasNext: false, count: 12 });
  expect(await page('?page=9')).toEqual({ ids: [], hasNext: false, count: 12 });
  expect((await caller.get(token, '/api/v1/consents?limit=0')).body.invalid).toEqual(['limit']);
});

test('another user or client cannot read a consent', async () => {
  const caller = consentCallerOf(sandbox);
  const consentId = await caller.consent(PERSON);
  const clientId = '00000000-0000-4000-8000-000000000002';
  await control.setClient(clientId, { apiKey: 'second-key' });
  const other = consentCallerOf({ ...sandbox, clientId, apiKey: 'second-key' });
  for (const path of [`/api/v1/consents/${consentId}`, `/api/v1/consents/${consentId}/pdf`]) {
    expect((await caller.get(await caller.taskToken(OTHER_PERSON), path)).status).toBe(404);
    expect((await other.get(await other.taskToken(PERSON), path)).status).toBe(404);
  }
});

test.each(SUB_STATUSES)(
  'a consent is brought to the sub-status %s by the control interface',
  async (subStatus) => {
    const caller = consentCallerOf(sandbox);
    const consentId = await caller.consent();
    await control.alterConsent(consentId, { subStatus });
    const { body } = await caller.get(await caller.taskToken(), `/api/v1/consents/${consentId}`);
    const living = subStatus === 'ACTIVE' || subStatus === 'IN_PROGRESS';
    expect([body.data.status, body.data.subStatus]).toEqual([living ? subStatus : 'INACTIVE', subStatus]);
    expect('terminatedAt' in body.data).toBe(!living);
  },
);

test('a consent expires by itself at its validUntil', async () => {
  const caller = consentCallerOf(sandbox);
  const consentId = await caller.consent();
  const { validUntil } = await control.consent(consentId);
  await control.advanceClock(YEAR_SECONDS);
  expect(await control.consent(consentId)).toMatchObject({
    status: 'INACTIVE',
    subStatus: 'EXPIRED',
    validUntil,
    terminatedAt: validUntil,
  });
});

test('answers can have the status of the samples, and list items no sub-status', async () => {
  const caller = consentCallerOf(sandbox);
  const consentId = await caller.consent('33333333-3');
  await control.alterConsent(consentId, { shown: { status: 'success' }, listed: { subStatus: null } });
  const token = await caller.taskToken('33333333-3');
  const { body: one } = await caller.get(token, `/api/v1/consents/${consentId}`);
  expect(one.data).toMatchObject({ status: 'success', subStatus: 'ACTIVE' });
  const [item] = (await caller.get(token, '/api/v1/consents')).body.data.consents;
  expect(item).toMatchObject({ status: 'success' });
  expect(item).not.toHaveProperty('subStatus');
});
