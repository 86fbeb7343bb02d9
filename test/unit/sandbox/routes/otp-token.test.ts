import { afterAll, beforeAll, expect, test } from 'vitest';
import { sandboxControl } from '../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { COMPANY, consentCallerOf, PERSON } from '../consent-caller.ts';

let sandbox: RunningSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

test('an OTP token is a JWT, and its consent is in progress with the requested products', async () => {
  const caller = consentCallerOf(sandbox);
  const { otpToken, consentId } = await caller.otp();
  expect(otpToken).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  const { body } = await caller.get(await caller.taskToken(), `/api/v1/consents/${consentId}`);
  expect(body.data).toMatchObject({
    id: consentId,
    products: ['movement', 'tef'],
    status: 'IN_PROGRESS',
    subStatus: 'IN_PROGRESS',
  });
});

test.each(['11.111.111-1', '11111111-1', '111111111', '11.111.1111'])(
  'the national id %s is that of the same user',
  async (username) => {
    const caller = consentCallerOf(sandbox);
    const { consentId } = await caller.otp({ user: { username, email: 'user@example.com' } });
    const token = await caller.taskToken(username);
    expect((await caller.get(token, `/api/v1/consents/${consentId}`)).status).toBe(200);
    expect((await sandboxControl(sandbox.baseUrl).consent(consentId)).owner).toBe(PERSON);
  },
);

test('the consent of a legal person belongs to the company, not to its user', async () => {
  const caller = consentCallerOf(sandbox);
  const { consentId } = await caller.otp({ company: { id: COMPANY } });
  const path = `/api/v1/consents/${consentId}`;
  expect((await caller.get(await caller.taskToken(COMPANY), path)).status).toBe(200);
  expect((await caller.get(await caller.taskToken(PERSON), path)).status).toBe(404);
});

test('the legal-person flow requires a company', async () => {
  const caller = consentCallerOf(sandbox);
  const legal = caller.otpRequest({ widgetConfigId: 'sandbox-widget-company' });
  const refused = await caller.createOtp(legal);
  expect([refused.status, refused.body.invalid]).toEqual([400, ['company']]);
  expect((await caller.createOtp({ ...legal, company: { id: COMPANY } })).status).toBe(200);
});

test.each<[string, Record<string, unknown>, string]>([
  ['no products', { products: [] }, 'products'],
  ['an unknown product', { products: ['gold'] }, 'products.0'],
  ['no user', { user: undefined }, 'user'],
  ['a national id without its check digit', { user: { username: '11.111.111' } }, 'user.username'],
  ['a wrong check digit', { user: { username: '11111111-2' } }, 'user.username'],
  ['a company without id', { company: {} }, 'company.id'],
  [
    'an unknown entity type',
    { filters: { entities: { include: { types: ['casino'] } } } },
    'filters.entities.include.types.0',
  ],
  ['filters that are an array', { filters: [] }, 'filters'],
  ['entities that are an array', { filters: { entities: [] } }, 'filters.entities'],
  ['an array to include', { filters: { entities: { include: [] } } }, 'filters.entities.include'],
  ['a client id that is no UUID', { clientId: 'me' }, 'clientId'],
  ['a widget in another case', { widgetConfigId: 'Sandbox-Widget' }, 'widgetConfigId'],
  ['a field that the document does not name', { redirect: 'x' }, 'redirect'],
])('an OTP token request with %s is answered with 400 and names the place', async (_, more, place) => {
  const caller = consentCallerOf(sandbox);
  const { status, body } = await caller.createOtp(caller.otpRequest(more));
  expect([status, body.invalid]).toEqual([400, [place]]);
});

test('a Task Token needs a valid target and the client’s own UUID', async () => {
  const caller = consentCallerOf(sandbox);
  const { clientId } = sandbox;
  expect((await caller.createTaskToken({ target: '1-1', clientId })).body.invalid).toEqual(['target']);
  expect((await caller.createTaskToken({ target: PERSON, clientId: 'me' })).body.invalid).toEqual([
    'clientId',
  ]);
  const strangers = '00000000-0000-4000-8000-00000000000f';
  expect((await caller.createTaskToken({ target: PERSON, clientId: strangers })).status).toBe(403);
  expect((await caller.createOtp(caller.otpRequest({ clientId: strangers }))).status).toBe(403);
});
