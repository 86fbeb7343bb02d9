import { afterAll, beforeAll, expect, test } from 'vitest';
import { sandboxControl } from '../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { callerOf, requestFor } from './caller.ts';

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
