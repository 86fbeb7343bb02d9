import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SandboxControl, SandboxEventMissing, sandboxControl } from '../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { callerOf, requestFor } from '../caller.ts';

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
