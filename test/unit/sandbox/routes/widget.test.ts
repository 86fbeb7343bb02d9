import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SandboxControl, sandboxControl } from '../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { consentCallerOf } from '../consent-caller.ts';

let sandbox: RunningSandbox;
let control: SandboxControl;
beforeAll(async () => {
  sandbox = await startSandbox();
  control = sandboxControl(sandbox.baseUrl);
});
afterAll(() => sandbox.close());

const open = (otpToken: string) => fetch(`${sandbox.baseUrl}/widget?otpToken=${otpToken}`);
const decide = (fields: Record<string, string>) =>
  fetch(`${sandbox.baseUrl}/widget`, { method: 'POST', body: new URLSearchParams(fields) });
const keyIn = (page: string) => /name="key" value="(\w+)"/.exec(page)?.[1] ?? '';
const authorization = { entity: 'demo-bank', product: 'movement', decision: 'authorize' };

test('an OTP token opens the page once, and an unknown one never', async () => {
  const { otpToken } = await consentCallerOf(sandbox).otp();
  expect((await open(otpToken)).status).toBe(200);
  expect((await open(otpToken)).status).toBe(410);
  expect((await open('unknown')).status).toBe(410);
  expect((await open('')).status).toBe(410);
});

test('HEAD reports whether the page can be opened and does not use the token', async () => {
  const { otpToken } = await consentCallerOf(sandbox).otp();
  const head = (token: string) =>
    fetch(`${sandbox.baseUrl}/widget?otpToken=${token}`, { method: 'HEAD' }).then(({ status }) => status);
  expect([await head(otpToken), await head(otpToken), await head('unknown')]).toEqual([200, 200, 410]);
  expect((await open(otpToken)).status).toBe(200);
  expect(await head(otpToken)).toBe(410);
});

test('a used page keeps the locale of its consent', async () => {
  const language = async (response: Promise<Response>) =>
    /lang="(\w+)"/.exec(await (await response).text())?.[1];
  for (const [locale, expected] of [
    ['es-CL', 'es'],
    ['en', 'en'],
  ] as const) {
    const { otpToken } = await consentCallerOf(sandbox).otp({ locale });
    const key = keyIn(await (await open(otpToken)).text());
    expect(await language(open(otpToken))).toBe(expected);
    await decide({ key, ...authorization });
    expect(await language(decide({ key, ...authorization }))).toBe(expected);
  }
});

test('an OTP token and its consent expire after 15 minutes, also with the page open', async () => {
  const caller = consentCallerOf(sandbox);
  const [opened, unopened] = [await caller.otp(), await caller.otp()];
  const key = keyIn(await (await open(opened.otpToken)).text());
  await control.advanceClock(15 * 60);
  expect((await open(unopened.otpToken)).status).toBe(410);
  expect((await decide({ key, ...authorization })).status).toBe(410);
  expect(await control.consent(opened.consentId)).toMatchObject({ status: 'INACTIVE', subStatus: 'EXPIRED' });
});

test('the form is accepted once, for its own consent, with offered values only', async () => {
  const { otpToken, consentId } = await consentCallerOf(sandbox).otp({ products: ['movement'] });
  const key = keyIn(await (await open(otpToken)).text());
  expect((await decide({ key: '', ...authorization })).status).toBe(410);
  expect((await decide({ key, ...authorization, product: 'debt' })).status).toBe(400);
  expect((await decide({ key, ...authorization, entity: 'elsewhere' })).status).toBe(400);
  expect((await decide({ key, ...authorization })).status).toBe(200);
  expect((await decide({ key, ...authorization, decision: 'discard' })).status).toBe(410);
  expect((await control.consent(consentId)).status).toBe('ACTIVE');
});

test('the page allows no script and sends no referrer', async () => {
  const { otpToken } = await consentCallerOf(sandbox).otp();
  const response = await open(otpToken);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  expect(await response.text()).not.toContain('<script');
});

test('the control interface shows no token of the consent flow', async () => {
  const caller = consentCallerOf(sandbox);
  const { otpToken } = await caller.otp();
  await open(otpToken);
  const taskToken = await caller.taskToken();
  await caller.get(taskToken, '/api/v1/consents');
  const shown = JSON.stringify([await control.calls(), await control.tokens(), await control.summary()]);
  expect(shown).not.toContain(otpToken);
  expect(shown).not.toContain(taskToken);
  expect(await control.calls({ path: '/widget', method: 'GET' })).not.toHaveLength(0);
});
