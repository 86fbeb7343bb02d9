import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventStream } from '../../../sandbox/control/event-stream.ts';
import { type SandboxControl, SandboxEventMissing, sandboxControl } from '../../../sandbox/control-client.ts';
import { createEventLog } from '../../../sandbox/event-log.ts';
import { parseFlags } from '../../../sandbox/parse-flags.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import type { Sandbox } from '../../../sandbox/state-types.ts';
import { callerOf, PERSON, requestFor } from './caller.ts';

let sandbox: RunningSandbox;
let control: SandboxControl;
let caller: ReturnType<typeof callerOf>;
const lines: string[] = [];
beforeAll(async () => {
  sandbox = await startSandbox({ taskDurationMs: 0, log: (line) => lines.push(line) });
  control = sandboxControl(sandbox.baseUrl);
  caller = callerOf(sandbox);
});
afterAll(() => sandbox.close());

test('events are replayed from any number, in order', async () => {
  const taskId = await caller.startTask(requestFor('replayed'));
  const finished = await control.waitForEvent('task-finished', (event) => event.taskId === taskId);
  const leaving = new AbortController();
  const replayed: number[] = [];
  for await (const event of control.events(1, leaving.signal)) {
    replayed.push(event.seq);
    if (event.seq >= finished.seq) break;
  }
  leaving.abort();
  expect(replayed).toEqual(Array.from({ length: finished.seq - 1 }, (_, index) => index + 2));
});

/** The status of a call as a page sends it: fetch would set neither header. */
const statusOf = async (
  path: string,
  headers: Readonly<Record<string, string>>,
  { url = sandbox.baseUrl, method = 'POST' } = {},
): Promise<number> => {
  const sent = request(`${url}${path}`, { method, headers: { 'content-type': 'text/plain', ...headers } });
  sent.end(method === 'GET' ? undefined : '{}');
  const [answer] = await once(sent, 'response');
  answer.resume();
  return answer.statusCode as number;
};

test('a page of somebody else reaches neither the control interface nor a route', async () => {
  const { host } = new URL(sandbox.baseUrl);
  const clock = '/_sandbox/clock/advance';
  const calls = await control.calls();
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { host: 'evil.example' },
    { host: `evil.example:${new URL(sandbox.baseUrl).port}` },
    { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
  ];
  for (const headers of foreign) {
    for (const path of [clock, '/_sandbox/deliver', '/widget', '/api/v2/tasks']) {
      expect([headers, path, await statusOf(path, headers)]).toEqual([headers, path, 403]);
    }
  }
  expect(await control.calls()).toEqual(calls);
  // The consent page is opened by a link in an app.
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  expect(await statusOf('/widget', link, { method: 'GET' })).toBe(410);
  expect(await statusOf('/widget', { origin: `http://${host}` })).toBe(410);
});

test('--host names a further host', async () => {
  const options = parseFlags(['--port', '0', '--host', 'sandbox.example']);
  const named = await startSandbox(options);
  onTestFinished(() => named.close());
  const url = named.baseUrl;
  const reset = (headers: Readonly<Record<string, string>>) => statusOf('/_sandbox/reset', headers, { url });
  expect(await reset({ host: 'sandbox.example', origin: 'https://sandbox.example' })).toBe(200);
  expect(await reset({ host: 'other.example' })).toBe(403);
  expect(await reset({})).toBe(200);
});

test('waiting ends with an error at its timeout', async () => {
  await expect(control.waitFor(() => false, { timeoutMs: 20 })).rejects.toThrow(SandboxEventMissing);
});

test('calls are listed in order, by username, task, path and method', async () => {
  const webhook = { enable: true, retries: 2 };
  const taskId = await caller.startTask(requestFor('listed', { webhook }));
  const path = `/api/v2/tasks/${taskId}`;
  await caller.get(await caller.login(), path);
  const calls = await control.calls({ username: 'listed' });
  expect(calls).toMatchObject([
    { method: 'POST', path: '/api/v2/tasks', status: 200, credentialsMode: 'raw', webhook, taskId },
    { method: 'GET', path, status: 200, taskId },
  ]);
  expect(await control.calls({ taskId, method: 'GET' })).toEqual([calls[1]]);
  expect(await control.calls({ path })).toEqual([calls[1]]);
});

test('neither the control interface nor the log contains a key, token or password', async () => {
  const token = await caller.login();
  await caller.post(token, '/api/v2/tasks', requestFor('secretive'));
  const { otpToken } = await caller.otp();
  await fetch(`${sandbox.baseUrl}/widget?otpToken=${otpToken}`);
  const taskToken = await caller.taskToken();
  await caller.get(taskToken, '/api/v1/consents');
  const { summary, calls, tasks, tokens } = control;
  const shown = JSON.stringify([await Promise.all([summary(), calls(), tasks(), tokens()]), lines]);
  const { apiKey } = sandbox;
  for (const secret of [token, otpToken, taskToken, 'any-password', apiKey, 'sandbox-signing-key']) {
    expect(shown).not.toContain(secret);
  }
});

test('a reset removes everything but the clients, and cancels pending events', async () => {
  const own = await startSandbox({ taskDurationMs: 60_000 });
  const itsControl = sandboxControl(own.baseUrl);
  await itsControl.setWebhook(own.clientId, { url: 'http://127.0.0.1:9/webhook' });
  await itsControl.setPlan('planned', { startForever: { kind: 'answer', status: 500 } });
  const itsCaller = callerOf(own);
  const token = await itsCaller.login();
  const taskId = await itsCaller.startTask(requestFor('forgotten'));
  await itsControl.reset();
  const { counts, clients } = await itsControl.summary();
  expect(new Set(Object.values(counts))).toEqual(new Set([0]));
  expect(clients).toMatchObject([{ webhook: { url: 'http://127.0.0.1:9/webhook' } }]);
  expect((await itsCaller.get(token, `/api/v2/tasks/${taskId}`)).status).toBe(401);
  await itsControl.advanceClock(60);
  const { seq } = await itsControl.waitForEvent('reset', () => true);
  await itsCaller.startTask(requestFor('planned'));
  const next = await itsControl.waitForEvent('task-created', () => true, { since: seq });
  expect(next.username).toBe('planned');
  await own.close();
});

test('a quiet event stream sends keep-alive comments', async () => {
  const sandbox = { events: createEventLog(() => 0) } as unknown as Sandbox;
  const reader = eventStream(sandbox, 0, 5).body?.getReader();
  const first = await reader?.read();
  expect(Buffer.from(first?.value ?? []).toString()).toBe(':\n\n');

  sandbox.events.append({ type: 'reset' });
  let text = '';
  while (!text.includes('data: ')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
  expect(text).toMatch(/^(:\n\n)*id: 1\ndata: \{.*"type":"reset"/);
  await reader?.cancel();
});

test.each([
  ['PUT', 'plans/somebody', '[]', 'body: expected Object'],
  ['PUT', 'plans/somebody', '{"webhook":[]}', 'webhook: expected Object'],
  ['PUT', 'plans/somebody', '{"webhook":{"drops":[1]}}', 'webhook.drops: unknown field'],
  ['PUT', 'faults', '{"faults":[{"path":"/x","behaviors":[]}]}', expect.stringContaining('behaviors')],
  ['POST', 'tokens/expire', '[]', 'body: expected Object'],
])('%s %s with %s is refused with the path of the mistake', async (method, path, body, message) => {
  const response = await fetch(`${sandbox.controlUrl}/${path}`, { method, body });
  expect([response.status, await response.json()]).toEqual([400, { message }]);
});

test('an unknown task, consent, client or control is answered with 404', async () => {
  const calls = [
    control.task('unknown'),
    control.setWebhook('unknown', {}),
    control.consent('unknown'),
    control.finishPolled('unknown'),
    control.createConsent({ owner: PERSON, products: ['tef'], clientId: 'unknown' }),
  ];
  await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ status: 404 })));
  expect((await fetch(`${sandbox.controlUrl}/unknown`)).status).toBe(404);
});

test('two clients cannot have one API key', async () => {
  const { apiKey } = sandbox;
  await expect(control.setClient('another', { apiKey })).rejects.toMatchObject({ status: 409 });
});

test('tokens are listed by kind and fingerprint, with expiry and use', async () => {
  const own = await startSandbox({ now: () => Date.parse('2026-03-01T12:00:00Z') });
  const itsControl = sandboxControl(own.baseUrl);
  const itsCaller = callerOf(own);
  await itsCaller.login(5);
  await fetch(`${own.baseUrl}/widget?otpToken=${(await itsCaller.otp()).otpToken}`);
  await itsCaller.get(await itsCaller.taskToken(), '/api/v1/consents');
  const [call] = await itsControl.calls({ path: '/api/v1/consents' });
  const each = { clientId: own.clientId, fingerprint: expect.any(String) };
  expect(await itsControl.tokens()).toEqual([
    { ...each, kind: 'session', expiresAt: '2026-03-01T12:05:00.000Z' },
    { ...each, kind: 'otp', expiresAt: '2026-03-01T12:15:00.000Z', used: true },
    { ...each, kind: 'task', expiresAt: '2026-03-01T13:00:00.000Z', fingerprint: call?.bearer },
  ]);
  await own.close();
});
