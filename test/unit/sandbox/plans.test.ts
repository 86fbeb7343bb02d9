import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SandboxControl, sandboxControl } from '../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { callerOf, requestFor } from './caller.ts';
import { startReceiver } from './receiver.ts';

let sandbox: RunningSandbox;
beforeAll(async () => {
  // Time stands still unless a test advances it.
  sandbox = await startSandbox({ now: () => Date.parse('2026-03-01T12:00:00Z'), taskDurationMs: 3000 });
});
afterAll(() => sandbox.close());

test('a task is PENDING, then RUNNING, then terminal, and has results only then', async () => {
  const control = sandboxControl(sandbox.baseUrl);
  const caller = callerOf(sandbox);
  const taskId = await caller.startTask(requestFor('completed'));
  expect(await caller.readTask(taskId)).toEqual({ taskStatus: 'PENDING', results: null });
  await control.advanceClock(0.5);
  expect(await caller.readTask(taskId)).toEqual({ taskStatus: 'RUNNING', results: null });
  await control.advanceClock(2.4);
  expect((await caller.readTask(taskId)).taskStatus).toBe('RUNNING');
  await control.advanceClock(0.1);
  expect(await caller.readTask(taskId)).toMatchObject({
    taskStatus: 'COMPLETED',
    results: { entityId: 'demo-bank' },
  });
});

test('the control interface ends a task that does not end by itself, once', async () => {
  const control = sandboxControl(sandbox.baseUrl);
  const caller = callerOf(sandbox);
  await control.setPlan('endless', { durationMs: null });
  const taskId = await caller.startTask(requestFor('endless'));
  await control.advanceClock(3000);
  expect((await caller.readTask(taskId)).taskStatus).toBe('RUNNING');
  expect((await control.finish(taskId, 'CREDENTIALS_LOCKED')).taskStatus).toBe('CREDENTIALS_LOCKED');
  expect(await caller.readTask(taskId)).toEqual({ taskStatus: 'CREDENTIALS_LOCKED', results: null });
  await expect(control.finish(taskId)).rejects.toMatchObject({ status: 409 });
});

test('a plan decides outcome, action errors and results', async () => {
  const control = sandboxControl(sandbox.baseUrl);
  const caller = callerOf(sandbox);
  const endOf = async (username: string) => {
    const taskId = await caller.startTask(requestFor(username));
    await control.finish(taskId);
    return caller.readTask(taskId);
  };
  await control.setPlan('planned-failure', { outcome: 'FAILED' });
  expect((await endOf('planned-failure')).taskStatus).toBe('FAILED');
  await control.setPlan('planned-errors', { actionErrors: { 'product-balance': 'REQUEST_BLOCK_ERROR' } });
  expect(await endOf('planned-errors')).toMatchObject({
    taskStatus: 'PARTIAL',
    results: { actions: [{ error: { code: 'REQUEST_BLOCK_ERROR' } }, { status: 'COMPLETED' }] },
  });
  await control.setPlan('planned-shape', { results: ['odd', { shape: true }] });
  expect(await endOf('planned-shape')).toEqual({
    taskStatus: 'COMPLETED',
    results: ['odd', { shape: true }],
  });
});

describe('plans', () => {
  let sandbox: RunningSandbox;
  let control: SandboxControl;
  let token: string;
  beforeAll(async () => {
    sandbox = await startSandbox({ taskDurationMs: 0 });
    control = sandboxControl(sandbox.baseUrl);
    token = await callerOf(sandbox).login();
  });
  afterAll(() => sandbox.close());

  const start = (username: string, signal?: AbortSignal) =>
    callerOf(sandbox).start(token, requestFor(username), signal);

  test('start calls are answered as planned, one behaviour each, then normally', async () => {
    await control.setPlan('busy-twice', {
      start: [
        { kind: 'answer', status: 429, headers: { 'retry-after': '1' } },
        { kind: 'answer', status: 429 },
      ],
    });
    const first = await start('busy-twice');
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await start('busy-twice')).status).toBe(429);
    expect((await start('busy-twice')).status).toBe(200);
    expect(await control.tasks({ username: 'busy-twice' })).toHaveLength(1);
    expect((await control.calls({ username: 'busy-twice' })).map((call) => call.status)).toEqual([
      429, 429, 200,
    ]);
  });

  test('a behaviour can be permanent, and does not affect other usernames', async () => {
    await control.setPlan('always-busy', { startForever: { kind: 'answer', status: 429 } });
    for (let calls = 0; calls < 4; calls += 1) expect((await start('always-busy')).status).toBe(429);
    expect((await start('somebody-else')).status).toBe(200);
  });

  test('a start call is accepted and answered with another status', async () => {
    await control.setPlan('taken-503', { start: [{ kind: 'accept-then-answer', status: 503 }] });
    await control.setPlan('taken-no-id', { start: [{ kind: 'accept-then-answer', status: 200, body: {} }] });
    expect((await start('taken-503')).status).toBe(503);
    const withoutId = await start('taken-no-id');
    expect([withoutId.status, await withoutId.json()]).toEqual([200, {}]);
    expect(await control.tasks({ username: 'taken-503' })).toHaveLength(1);
    expect(await control.tasks({ username: 'taken-no-id' })).toHaveLength(1);
  });

  test('a start call is accepted, or not accepted, and never answered', async () => {
    await control.setPlan('silent-taken', { start: [{ kind: 'accept-then-silence' }] });
    await control.setPlan('silent', { start: [{ kind: 'silence' }] });
    for (const [username, tasks] of [
      ['silent-taken', 1],
      ['silent', 0],
    ] as const) {
      const leaving = new AbortController();
      const answer = start(username, leaving.signal);
      await control.waitForEvent('call-received', ({ call }) => call.username === username);
      leaving.abort();
      await expect(answer).rejects.toThrow();
      const { call } = await control.waitForEvent('call', (event) => event.call.username === username);
      expect(call.status).toBe('none');
      expect(await control.tasks({ username })).toHaveLength(tasks);
    }
  });

  test('the connection is reset, with and without accepting the call', async () => {
    await control.setPlan('reset', { start: [{ kind: 'reset' }, { kind: 'reset', taken: false }] });
    await expect(start('reset')).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
    await expect(start('reset')).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
    expect(await control.tasks({ username: 'reset' })).toHaveLength(1);
    expect((await control.calls({ username: 'reset' })).map((call) => call.status)).toEqual(['none', 'none']);
  });

  test('a slow answer comes after its delay on the sandbox clock', async () => {
    await control.setPlan('slow', { start: [{ kind: 'slow', delayMs: 60_000 }] });
    const answer = start('slow');
    await control.waitForEvent('task-created', (event) => event.username === 'slow');
    await control.advanceClock(60);
    expect((await answer).status).toBe(200);
  });

  test('an expired session is a 401 on the call itself, and a new login works', async () => {
    await control.setPlan('expires', {
      start: [{ kind: 'expire-session' }],
      read: [{ kind: 'expire-session' }],
    });
    const caller = callerOf(sandbox);
    const old = await caller.login();
    expect((await caller.start(old, requestFor('expires'))).status).toBe(401);
    expect((await caller.start(old, requestFor('expires'))).status).toBe(401);
    const fresh = await caller.login();
    const { taskId } = (await (await caller.start(fresh, requestFor('expires'))).json()) as {
      taskId: string;
    };
    expect((await caller.read(fresh, taskId)).status).toBe(401);
    const calls = await control.calls({ username: 'expires', method: 'POST' });
    const bearers = calls.map((call) => call.bearer);
    expect(bearers).toHaveLength(2);
    expect(bearers[0]).toMatch(/^[0-9a-f]{12}$/);
    expect(bearers[0]).not.toBe(bearers[1]);
  });

  test('the task ends and its first delivery is answered before the start call', async () => {
    const receiver = await startReceiver();
    await control.setWebhook(sandbox.clientId, { url: receiver.url });
    await control.setPlan('early', { durationMs: 60_000, start: [{ kind: 'finish-first' }] });
    const request = requestFor('early', { webhook: { enable: true } });
    const response = await callerOf(sandbox).start(token, request);
    expect(receiver.received).toHaveLength(1);
    const { taskId } = (await response.json()) as { taskId: string };
    const happened = await control.waitForEvent('call', ({ call }) => call.taskId === taskId);
    const delivered = await control.waitForEvent('delivery', (event) => event.taskId === taskId);
    expect(delivered.delivery.status).toBe(204);
    expect(delivered.seq).toBeLessThan(happened.seq);
    await receiver.close();
  });

  test('a start call without webhook that finishes first is answered at once', async () => {
    await control.setPlan('early-unannounced', { start: [{ kind: 'finish-first' }] });
    expect((await start('early-unannounced')).status).toBe(200);
  });

  test('reads are answered as planned', async () => {
    await control.setPlan('reads', {
      read: [
        { kind: 'answer', status: 200, body: '<html>' },
        { kind: 'answer', status: 204 },
        { kind: 'reset' },
        { kind: 'status', taskStatus: 'ON_HOLD' },
        { kind: 'big', bytes: 100_000 },
      ],
    });
    const caller = callerOf(sandbox);
    const taskId = await caller.startTask(requestFor('reads'));
    expect(await (await caller.read(token, taskId)).text()).toBe('<html>');
    expect((await caller.read(token, taskId)).status).toBe(204);
    await expect(caller.read(token, taskId)).rejects.toThrow();
    expect((await caller.readTask(taskId)).taskStatus).toBe('ON_HOLD');
    expect((await (await caller.read(token, taskId)).text()).length).toBeGreaterThan(100_000);
    expect((await caller.readTask(taskId)).taskStatus).toBe('COMPLETED');
  });

  test('a trickled answer sends its headers and one byte at a time', async () => {
    await control.setPlan('trickle', { start: [{ kind: 'trickle' }] });
    const firstBytes = await new Promise<string>((resolve, reject) => {
      const call = httpRequest(`${sandbox.baseUrl}/api/v2/tasks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      });
      call.on('error', reject);
      call.on('response', (response) => {
        response.once('data', (chunk: Buffer) => {
          resolve(chunk.toString());
          response.destroy();
        });
      });
      call.end(JSON.stringify(requestFor('trickle')));
    });
    expect(firstBytes).toBe('{');
  });

  test('a misspelt plan is refused with the path of the mistake', async () => {
    const misspelt = { webhook: { drops: [1] } } as never;
    await expect(control.setPlan('x', misspelt)).rejects.toMatchObject({
      status: 400,
      message: 'webhook.drops: unknown field',
    });
  });
});
