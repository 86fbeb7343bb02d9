import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SandboxControl, sandboxControl } from '../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { encryptedByOpenssl } from '../../support/programs/openssl.ts';
import { callerOf, requestFor } from './caller.ts';

// What the provider's document shows is in test/provider-conformance. Here is what only the sandbox decides: lifetimes, who may
// see what, and the misbehaviour that a test plans.

const V1 = '/api/v1/products/retrieve-data/tasks';
const second = { clientId: '00000000-0000-4000-8000-000000000002', apiKey: 'second-key' };

let sandbox: RunningSandbox;
let control: SandboxControl;
let caller: ReturnType<typeof callerOf>;
beforeAll(async () => {
  // Time stands still unless a test advances it.
  sandbox = await startSandbox({ now: () => Date.parse('2026-03-01T12:00:00Z'), taskDurationMs: 3000 });
  control = sandboxControl(sandbox.baseUrl);
  caller = callerOf(sandbox);
  await control.setClient(second.clientId, { apiKey: second.apiKey });
});
afterAll(() => sandbox.close());

describe('logins', () => {
  const post = (body = '') =>
    fetch(`${sandbox.baseUrl}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'X-API-Key': sandbox.apiKey },
      body,
    });

  test.each(['{"expire":"60"}', '{"expire":0}', '{"minutes":5}', '[]', 'no json'])(
    'the login body %s is answered with 400',
    async (body) => {
      expect((await post(body)).status).toBe(400);
    },
  );

  test('the next logins of a client misbehave as planned, then they are normal', async () => {
    await control.setLogin(sandbox.clientId, [
      { kind: 'answer', status: 500, body: '<html>', headers: { 'content-type': 'text/html' } },
      { kind: 'reset' },
    ]);
    const broken = await post();
    const { status, headers } = broken;
    const answer = [status, headers.get('content-type'), await broken.text()];
    expect(answer).toEqual([500, 'text/html', '<html>']);
    await expect(post()).rejects.toThrow();
    expect((await post()).status).toBe(200);
  });
});

const v2 = '/api/v2/tasks';
const legacy = '/api/v1/tasks';
const otp = '/api/v1/token/otp/create';
const legacyRequest = (token: string, username: string) => ({
  action: 'demo-bank:tef',
  encryptArgs: encryptedByOpenssl(JSON.stringify({ username, password: 'any-password' }), token),
});
const acting = (action: object) => ({ actions: [action] });
const until = (endDate: string) =>
  acting({ id: 'movement', params: { dateRange: { startDate: '2026-02-01', endDate } } });
const credentials = (mode: string, value: unknown) => ({ credentials: { mode, value } });
const business = { entity: 'demo-business-bank', ...credentials('raw', { username: 'x', password: 'x' }) };

test.each<[string, Record<string, unknown>, string]>([
  [otp, { products: [] }, 'products'],
  [otp, { user: { username: '11111111-2' } }, 'user.username'],
  [otp, { widgetConfigId: 'sandbox-widget-company' }, 'company'],
  [otp, { filters: { entities: [] } }, 'filters.entities'],
  [otp, { redirect: 'x' }, 'redirect'],
  [v2, { actions: [] }, 'actions'],
  [v2, acting({ id: 'movement' }), 'actions.0.params'],
  [v2, acting({ id: 'product-balance', params: {} }), 'actions.0.params'],
  [v2, until('2026-02-30'), 'actions.0.params.dateRange.endDate'],
  [v2, { webhook: { retries: 3 } }, 'webhook.enable'],
  [v2, { reference: 'r' }, 'reference'],
  [v2, credentials('raw', { password: 'x' }), 'credentials.value'],
  [v2, business, 'credentials.value'],
  [v2, credentials('encrypted', 'abc'), 'credentials.value'],
  [v2, credentials('persisted', 'abc'), 'credentials.value'],
  [legacy, { action: ':tef' }, 'action'],
  [legacy, { action: 'demo-bank:gold' }, 'action'],
  [legacy, { encryptArgs: 'abc' }, 'encryptArgs'],
  [legacy, { action: 'demo-business-bank:tef' }, 'encryptArgs'],
  [legacy, { webhook: { enable: true } }, 'webhook'],
])('%s with %j is answered with 400 and names the place: %s', async (route, change, place) => {
  const token = await caller.login();
  const request = route === v2 ? requestFor('x') : legacyRequest(token, 'x');
  const { status, body } = await (route === otp
    ? caller.createOtp(change)
    : caller.post(token, route, { ...request, ...change }));
  expect([status, body.invalid]).toEqual([400, [place]]);
});

describe('consents', () => {
  test('a consent expires by itself at its validUntil', async () => {
    const consentId = await caller.consent();
    const { validUntil } = await control.consent(consentId);
    await control.advanceClock(365 * 24 * 3600);
    expect(await control.consent(consentId)).toMatchObject({
      status: 'INACTIVE',
      subStatus: 'EXPIRED',
      validUntil,
      terminatedAt: validUntil,
    });
  });

  test('the address of a PDF needs no token, and cannot be altered', async () => {
    const path = `/api/v1/consents/${await caller.consent()}/pdf`;
    const { url } = (await caller.get(await caller.taskToken(), path)).body.data;
    const altered = new URL(url);
    altered.searchParams.set('expires', '99999999999999');
    expect((await fetch(altered)).status).toBe(403);
    expect((await fetch(altered.origin + altered.pathname)).status).toBe(403);
    const response = await fetch(url);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect(await response.text()).toMatch(/^%PDF-1\.4[\s\S]*%%EOF\n$/);
  });
});

test('a plan ends the Task Token at a read of the owner’s extraction', async () => {
  const owner = '44444444-4';
  const token = await caller.taskToken(owner);
  const order = { product: 'movement', consentId: await caller.consent(owner) };
  await control.setPlan(owner, { durationMs: null, read: [{ kind: 'expire-session' }] });
  const { taskId } = (await caller.post(token, V1, order)).body;
  expect((await caller.get(token, `${V1}/${taskId}`)).status).toBe(401);
  expect((await caller.get(token, `${V1}/${taskId}`)).status).toBe(401);
  const renewed = await caller.taskToken(owner);
  expect((await caller.get(renewed, `${V1}/${taskId}`)).status).toBe(202);
});

test('results lag behind the end as planned, for a task and by consent', async () => {
  const owner = '55555555-5';
  const shown = { actions: [] };
  await control.setPlan(owner, { durationMs: 0, resultsLag: { ms: 60_000 } });
  await control.setPlan('lagging', { durationMs: 0, resultsLag: { ms: 60_000, shown } });
  const [session, token] = [await caller.login(), await caller.taskToken(owner)];
  const order = { product: 'movement', consentId: await caller.consent(owner) };
  const polled = `${V1}/${(await caller.post(token, V1, order)).body.taskId}`;
  const task = `/api/v2/tasks/${await caller.startTask(requestFor('lagging'))}`;
  const read = async () => [(await caller.get(session, task)).body, (await caller.get(token, polled)).body];
  expect(await read()).toMatchObject([
    { taskStatus: 'COMPLETED', results: shown },
    { taskStatus: 'success', results: null },
  ]);
  await control.advanceClock(60);
  expect(await read()).toMatchObject([
    { results: { actions: [{ id: 'product-balance' }, { id: 'tef' }] } },
    { results: expect.arrayContaining([expect.objectContaining({ currency: 'CLP' })]) },
  ]);
});

describe('v2 tasks', () => {
  test('starts above the rate of a client are refused with 429, and use up no planned behaviour', async () => {
    const { clientId } = sandbox;
    await control.setRestrictions(clientId, { startsPerSecond: 2, startsAtOnce: 3 });
    await control.setPlan('crowd', {
      start: [1, 2, 3].map(() => ({ kind: 'accept' as const })),
      startForever: { kind: 'answer', status: 500 },
    });
    const token = await caller.login();
    const start = async () => (await caller.post(token, v2, requestFor('crowd'))).status;
    const starts = async (count: number) => {
      const answers: number[] = [];
      while (answers.length < count) answers.push(await start());
      return answers;
    };
    expect(await starts(5)).toEqual([200, 200, 200, 429, 429]);
    await control.advanceClock(0.5);
    expect(await starts(2)).toEqual([500, 429]);
    await control.advanceClock(60);
    expect(await starts(4)).toEqual([500, 500, 500, 429]);
    await control.setRestrictions(clientId, {});
    expect(await starts(4)).not.toContain(429);
  });

  test('a slow answer comes after its delay on the sandbox clock', async () => {
    await control.setPlan('slow', { start: [{ kind: 'slow', delayMs: 60_000 }] });
    const answer = caller.startTask(requestFor('slow'));
    const { taskId } = await control.waitForEvent('task-created', ({ username }) => username === 'slow');
    await control.advanceClock(60);
    expect(await answer).toBe(taskId);
  });
});

describe('legacy tasks', () => {
  test('credentials under another session token are refused', async () => {
    const [token, other] = [await caller.login(), await caller.login()];
    expect((await caller.post(other, legacy, legacyRequest(token, 'x'))).status).toBe(400);
  });

  test('only the client that started a task reads it', async () => {
    const token = await caller.login();
    const { taskId } = (await caller.post(token, legacy, legacyRequest(token, 'read'))).body;
    const foreign = await callerOf({ ...sandbox, ...second }).login();
    expect((await caller.get(foreign, `/api/v1/tasks/${taskId}`)).status).toBe(403);
  });
});

describe('the widget', () => {
  const open = (otpToken: string) => fetch(`${sandbox.baseUrl}/widget?otpToken=${otpToken}`);
  const decide = (fields: Record<string, string>) =>
    fetch(`${sandbox.baseUrl}/widget`, { method: 'POST', body: new URLSearchParams(fields) });
  const keyIn = (page: string) => /name="key" value="(\w+)"/.exec(page)?.[1] ?? '';
  const authorization = { entity: 'demo-bank', product: 'movement', decision: 'authorize' };

  test('an OTP token opens the page once, and HEAD does not use it', async () => {
    const { otpToken } = await caller.otp();
    const head = (token: string) =>
      fetch(`${sandbox.baseUrl}/widget?otpToken=${token}`, { method: 'HEAD' }).then(({ status }) => status);
    expect([await head(otpToken), await head(otpToken), await head('unknown')]).toEqual([200, 200, 410]);
    const response = await open(otpToken);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(response.headers.get('referrer-policy')).toBe('same-origin');
    expect([await head(otpToken), (await open(otpToken)).status, (await open('')).status]).toEqual([
      410, 410, 410,
    ]);
  });

  test('an OTP token and its consent expire after 15 minutes, also with the page open', async () => {
    const [opened, unopened] = [await caller.otp(), await caller.otp()];
    const key = keyIn(await (await open(opened.otpToken)).text());
    await control.advanceClock(15 * 60);
    expect((await open(unopened.otpToken)).status).toBe(410);
    expect((await decide({ key, ...authorization })).status).toBe(410);
    expect(await control.consent(opened.consentId)).toMatchObject({ subStatus: 'EXPIRED' });
  });

  test('the form is accepted once, for its own consent, with offered values only', async () => {
    const { otpToken, consentId } = await caller.otp({ products: ['movement'] });
    const key = keyIn(await (await open(otpToken)).text());
    expect((await decide({ key: '', ...authorization })).status).toBe(410);
    expect((await decide({ key, ...authorization, product: 'debt' })).status).toBe(400);
    expect((await decide({ key, ...authorization, entity: 'elsewhere' })).status).toBe(400);
    expect((await decide({ key, ...authorization })).status).toBe(200);
    expect((await decide({ key, ...authorization, decision: 'discard' })).status).toBe(410);
    expect((await control.consent(consentId)).status).toBe('ACTIVE');
  });
});
