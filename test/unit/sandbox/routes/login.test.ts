import { afterAll, beforeAll, expect, test } from 'vitest';
import { sandboxControl } from '../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { callerOf } from '../caller.ts';

let sandbox: RunningSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

const post = (headers: Record<string, string>, body?: string) =>
  fetch(`${sandbox.baseUrl}/api/v1/auth/login`, {
    method: 'POST',
    headers,
    ...(body === undefined ? {} : { body }),
  });

test('an API key is exchanged for a session token, with and without a body', async () => {
  for (const body of [undefined, '{}', '{"expire":5}']) {
    const response = await post({ 'X-API-Key': sandbox.apiKey }, body);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ token: expect.any(String) });
  }
});

test('a wrong or missing API key is answered with 401', async () => {
  expect((await post({ 'X-API-Key': 'another' })).status).toBe(401);
  expect((await post({})).status).toBe(401);
});

test.each(['{"expire":"60"}', '{"expire":0}', '{"expire":1.5}', '{"minutes":5}', '[]', 'no json'])(
  'the login body %s is answered with 400',
  async (body) => {
    expect((await post({ 'X-API-Key': sandbox.apiKey }, body)).status).toBe(400);
  },
);

test('an expired session token is refused on the call itself', async () => {
  const control = sandboxControl(sandbox.baseUrl);
  const caller = callerOf(sandbox);
  const token = await caller.login(2);
  await control.advanceClock(119);
  expect((await caller.read(token, 'no-such-task')).status).toBe(404);
  await control.advanceClock(1);
  expect((await caller.read(token, 'no-such-task')).status).toBe(401);
});

test('a session token is valid for 60 minutes by default', async () => {
  const control = sandboxControl(sandbox.baseUrl);
  const caller = callerOf(sandbox);
  const token = await caller.login();
  await control.advanceClock(3599);
  expect((await caller.read(token, 'no-such-task')).status).toBe(404);
  await control.advanceClock(1);
  expect((await caller.read(token, 'no-such-task')).status).toBe(401);
});

test('the next logins of a client misbehave as planned, then they are normal', async () => {
  await sandboxControl(sandbox.baseUrl).setLogin(sandbox.clientId, [
    { kind: 'answer', status: 500, body: '<html>', headers: { 'content-type': 'text/html' } },
    { kind: 'reset' },
  ]);
  const broken = await post({ 'X-API-Key': sandbox.apiKey });
  expect([broken.status, broken.headers.get('content-type'), await broken.text()]).toEqual([
    500,
    'text/html',
    '<html>',
  ]);
  await expect(post({ 'X-API-Key': sandbox.apiKey })).rejects.toThrow();
  expect((await post({ 'X-API-Key': sandbox.apiKey })).status).toBe(200);
});
