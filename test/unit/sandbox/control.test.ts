import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventStream } from '../../sandbox/control/event-stream.ts';
import { type SandboxControl, SandboxEventMissing, sandboxControl } from '../../sandbox/control-client.ts';
import { createEventLog } from '../../sandbox/events.ts';
import { type RunningSandbox, startSandbox } from '../../sandbox/sandbox.ts';
import type { Sandbox } from '../../sandbox/state.ts';
import { callerOf, requestFor } from './caller.ts';
import { COMPANY, consentCallerOf, PERSON } from './consent-caller.ts';

let sandbox: RunningSandbox;
let control: SandboxControl;
const lines: string[] = [];
beforeAll(async () => {
  sandbox = await startSandbox({ taskDurationMs: 0, log: (line) => lines.push(line) });
  control = sandboxControl(sandbox.baseUrl);
});
afterAll(() => sandbox.close());

test('events are replayed from any number, in order', async () => {
  const taskId = await callerOf(sandbox).startTask(requestFor('replayed'));
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

test('waiting finds a later event', async () => {
  const coming = control.waitForEvent('task-created', (event) => event.username === 'awaited');
  const taskId = await callerOf(sandbox).startTask(requestFor('awaited'));
  expect((await coming).taskId).toBe(taskId);
});

test('waiting ends with an error at its timeout', async () => {
  await expect(control.waitFor(() => false, { timeoutMs: 20 })).rejects.toThrow(SandboxEventMissing);
});

test('calls are listed in order, by username, task, path and method', async () => {
  const taskId = await callerOf(sandbox).startTask(
    requestFor('listed', { webhook: { enable: true, retries: 2 } }),
  );
  await callerOf(sandbox).readTask(taskId);
  const calls = await control.calls({ username: 'listed' });
  expect(calls).toMatchObject([
    {
      method: 'POST',
      path: '/api/v2/tasks',
      status: 200,
      credentialsMode: 'raw',
      webhook: { enable: true, retries: 2 },
      taskId,
    },
    { method: 'GET', path: `/api/v2/tasks/${taskId}`, status: 200, taskId },
  ]);
  expect(await control.calls({ taskId, method: 'GET' })).toEqual([calls[1]]);
  expect(await control.calls({ path: `/api/v2/tasks/${taskId}` })).toEqual([calls[1]]);
});

test('neither the control interface nor the log contains a key, token or password', async () => {
  const caller = callerOf(sandbox);
  const token = await caller.login();
  await caller.start(token, requestFor('secretive'));
  const shown = JSON.stringify([
    await control.summary(),
    await control.calls(),
    await control.tasks(),
    lines,
  ]);
  for (const secret of [token, 'any-password', sandbox.apiKey, 'sandbox-signing-key']) {
    expect(shown).not.toContain(secret);
  }
});

test.each([
  ['PUT', 'plans/somebody', '[]', 'body: expected Object'],
  ['PUT', 'plans/somebody', '{"webhook":[]}', 'webhook: expected Object'],
  ['POST', 'tokens/expire', '[]', 'body: expected Object'],
])('%s %s with %s is refused, as an array is not an object', async (method, path, body, message) => {
  const response = await fetch(`${sandbox.controlUrl}/${path}`, { method, body });
  expect([response.status, await response.json()]).toEqual([400, { message }]);
});

test('an unknown task, client or control is answered with 404', async () => {
  await expect(control.task('unknown')).rejects.toMatchObject({ status: 404 });
  await expect(control.setWebhook('unknown', {})).rejects.toMatchObject({ status: 404 });
  expect((await fetch(`${sandbox.controlUrl}/unknown`)).status).toBe(404);
});

test('a reset removes everything but the clients, and cancels pending events', async () => {
  const own = await startSandbox({ taskDurationMs: 60_000 });
  const itsControl = sandboxControl(own.baseUrl);
  await itsControl.setWebhook(own.clientId, { url: 'http://127.0.0.1:9/webhook' });
  await itsControl.setPlan('planned', { startForever: { kind: 'answer', status: 500 } });
  const caller = callerOf(own);
  const token = await caller.login();
  const taskId = await caller.startTask(requestFor('forgotten'));
  await itsControl.reset();
  expect((await itsControl.summary()).counts).toEqual({
    sessions: 0,
    tasks: 0,
    calls: 0,
    plans: 0,
    consents: 0,
    polledTasks: 0,
  });
  expect((await itsControl.summary()).clients).toMatchObject([
    { webhook: { url: 'http://127.0.0.1:9/webhook' } },
  ]);
  expect((await caller.read(token, taskId)).status).toBe(401);
  await itsControl.advanceClock(60);
  const { seq } = await itsControl.waitForEvent('reset', () => true);
  await caller.startTask(requestFor('planned'));
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

describe('fault-control', () => {
  let sandbox: RunningSandbox;
  let control: SandboxControl;
  beforeAll(async () => {
    sandbox = await startSandbox();
    control = sandboxControl(sandbox.baseUrl);
  });
  afterAll(() => sandbox.close());

  const status = async (method: string, path: string) =>
    (await fetch(`${sandbox.baseUrl}${path}`, { method })).status;

  test('any route misbehaves as often as planned, then behaves normally', async () => {
    await control.setFaults([
      {
        method: 'GET',
        path: '/api/v1/consents*',
        behaviours: [{ kind: 'answer', status: 500 }, { kind: 'reset' }],
      },
      { path: '/api/v1/entities', behaviours: [{ kind: 'answer', status: 200, body: '<html>' }] },
    ]);
    expect(await status('POST', '/api/v1/consents/revoke')).toBe(401);
    expect(await status('GET', '/api/v1/consents/some')).toBe(500);
    await expect(status('GET', '/api/v1/consents')).rejects.toThrow();
    expect(await status('GET', '/api/v1/consents')).toBe(401);
    expect(await (await fetch(`${sandbox.baseUrl}/api/v1/entities`)).text()).toBe('<html>');
  });

  test('a trickled answer sends one byte at a time, and a reset removes faults', async () => {
    await control.setFaults([
      { path: '/api/v1/consents', behaviours: [{ kind: 'trickle', body: { data: {} } }, { kind: 'reset' }] },
    ]);
    const response = await fetch(`${sandbox.baseUrl}/api/v1/consents`);
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('{');
    await reader?.cancel();
    await control.reset();
    expect(await status('GET', '/api/v1/consents')).toBe(401);
  });

  test('it refuses connections while it is down, and listens on the same address afterwards', async () => {
    // Its clock stands still, so that the outage lasts until the test advances it.
    let now = Date.now();
    const { baseUrl, close } = await startSandbox({ now: () => now });
    onTestFinished(close);
    const answer = () =>
      fetch(`${baseUrl}/api/v1/consents`).then(
        ({ status }) => status,
        (error: Error) => (error.cause as NodeJS.ErrnoException).code,
      );
    const patiently = { timeout: 60_000 };

    await sandboxControl(baseUrl).goDown(1);
    await expect.poll(answer, patiently).toBe('ECONNREFUSED');
    now += 1_000;
    await expect.poll(answer, patiently).toBe(401);
  });

  test('an outage repeats its behaviours in turn until it is over, and a slow call is answered as ever', async () => {
    let now = Date.now();
    const { baseUrl, close } = await startSandbox({ now: () => now });
    onTestFinished(close);
    const path = '/api/v1/consents';
    const behaviours = [
      { kind: 'answer', status: 503, headers: { 'retry-after': '7' } },
      { kind: 'pass' },
      { kind: 'slow', delayMs: 1 },
    ] as const;
    await sandboxControl(baseUrl).setFaults([{ path, behaviours: [...behaviours], forSeconds: 60 }]);
    const statuses = async (calls: number) => {
      const answers: number[] = [];
      for (let made = 0; made < calls; made += 1) answers.push((await fetch(`${baseUrl}${path}`)).status);
      return answers;
    };
    expect(await statuses(6)).toEqual([503, 401, 401, 503, 401, 401]);
    now += 60_000;
    expect(await statuses(2)).toEqual([401, 401]);
  });

  test('a misspelt fault is refused with the path of the mistake', async () => {
    const misspelt = [{ path: '/x', behaviors: [] }] as never;
    await expect(control.setFaults(misspelt)).rejects.toMatchObject({ status: 400 });
  });
});

describe('consent-control', () => {
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
});
