import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { terminalStatuses } from '#lib/extraction/record.ts';
import { eventually } from '#support/eventually.ts';
import type { ConsoleAction } from '#tools/cli/console/actions/action-types.ts';
import { UsageError } from '#tools/cli/terminal/errors.ts';
import { repository } from '#tools/local/paths.ts';
import { readStartOptions } from '#tools/local/read-start-options.ts';
import { createRunOutput } from '#tools/local/run-output.ts';
import { sandboxActions, sandboxState } from '#tools/local/sandbox-actions.ts';
import { type SandboxControl, sandboxControl } from '../../../../sandbox/control-client.ts';
import { eventText } from '../../../../sandbox/describe-event.ts';
import type { SandboxEvent } from '../../../../sandbox/event-log.ts';
import { type RunningSandbox, startSandbox } from '../../../../sandbox/sandbox.ts';

const program = join(repository, 'tools', 'local', 'start.ts');

/** An emulator that never answers, so that the run waits for it. */
const silent = createServer(() => undefined);
await once(silent.listen(0, '127.0.0.1'), 'listening');
afterAll(() => {
  silent.closeAllConnections();
  silent.close();
});

const AWS_ENDPOINT_URL = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'us-east-1' };
const env = { ...process.env, ...keys, AWS_ENDPOINT_URL };

test('npm start --once that is interrupted does not exit 0', { tags: ['slow'] }, async () => {
  const called = once(silent, 'request');
  const child = spawn(process.execPath, [program, '--once'], { env, stdio: 'ignore' });
  const exited = once(child, 'exit');
  await called;
  child.kill('SIGINT');
  expect(await exited).toEqual([130, null]);
});

test('npm start whose output is closed, as by head, ends in order', { tags: ['slow'] }, async () => {
  const child = spawn(process.execPath, [program, '--once'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  const errors = text(child.stderr);
  child.stdout.destroy();
  expect(await exited).toEqual([130, null]);
  expect(await errors).not.toContain('EPIPE');
});

test('npm start with a wrong option exits 2, as the command line does', async () => {
  const child = spawn(process.execPath, [program, '--port', 'abc'], { stdio: 'ignore' });
  expect(await once(child, 'exit')).toEqual([2, null]);
});

describe('the options of npm start', () => {
  it('are parsed', () => {
    expect(readStartOptions([])).toEqual({});
    expect(readStartOptions(['--once', '--port', '4566'])).toEqual({ once: true, port: 4566 });
  });

  const wrong = [['--onc'], ['extra'], ['--port', 'x'], ['--port', '0'], ['--port', '65536'], ['--port']];

  it.each(wrong)('are refused with the usage: %s %s', (...args) => {
    expect(() => readStartOptions(args)).toThrow(UsageError);
    expect(() => readStartOptions(args)).toThrow('Usage: npm start');
  });
});

const extractionId = '0190a0b0-0000-7000-8000-000000000001';

let sandbox: RunningSandbox;
let provider: SandboxControl;
let actions: readonly ConsoleAction[];
let reported: string[] = [];
let requests: { readonly url: string; readonly body: Record<string, unknown> }[] = [];
beforeEach(async () => {
  sandbox = await startSandbox();
  provider = sandboxControl(sandbox.baseUrl);
  const fetch = async (url: string, init?: RequestInit): Promise<Response> => {
    requests.push({ url, body: JSON.parse(String(init?.body)) });
    return Response.json({ extractionId }, { status: 202 });
  };
  const api = { base: 'http://api.example', fetch };
  reported = [];
  const report = (line: string) => void reported.push(line);
  actions = sandboxActions({ provider, endOutage: sandbox.comeBack, api, report });
});
afterEach(() => sandbox.close());

const own = ['REJECTED', 'UNCONFIRMED', 'NOT_STARTED', 'TIMED_OUT'];

test('there is an action for every final status of the provider, and for every outcome of Cosecha', () => {
  const labels = actions.map(({ label }) => label.split(':')[0]);
  expect(labels).toEqual(expect.arrayContaining([...terminalStatuses, ...own]));
  expect(new Set(actions.map(({ id }) => id)).size).toBe(actions.length);
});

test('each start and each webhook requests one extraction, after the sandbox has accepted its plan', async () => {
  const starting = actions.filter(({ group }) => group?.startsWith('Start an'));
  for (const { label, run } of starting) {
    requests = [];
    expect(await run('', '')).toMatchObject({ extractionId });
    const body = { reference: `sandbox: ${label}` };
    expect(requests).toMatchObject([{ url: 'http://api.example/extractions', body }]);
  }
  const planned = starting.filter(({ group, label }) => group?.endsWith('webhook is') || own.includes(label));
  expect((await provider.summary()).counts.plans).toBe(planned.length);
});

test('the provider fails, hangs and stops, says so, and recovers from each', async () => {
  const run = (start: string) => actions.find(({ label }) => label.startsWith(start))?.run('', '');
  const status = async () => (await fetch(`${sandbox.baseUrl}/api/v1/consents`)).status;
  const state = async () => (await sandboxState({ provider })).active.join();
  await run('Answer 503');
  expect(await state()).toMatch(/^The provider answers with 503, for (30|29) s more\.$/);
  for (let calls = 0; calls < 25; calls += 1) expect(await status()).toBe(503);
  await provider.advanceClock(31);
  expect(await state()).toBe('');
  expect(await status()).toBe(401);
  await run('Hang');
  expect(await state()).toMatch(/^The provider accepts calls and never answers them, for (30|29) s more\.$/);
  await run('End it');
  expect(await state()).toBe('');
  expect(await status()).toBe(401);
  await run('Stop');
  // It answers this call before it closes.
  await expect(async () => {
    for (;;) await provider.summary();
  }).rejects.toThrow('does not answer');
  expect(await state()).toContain('refuses every connection, for 30 s');
  await run('End it');
  expect(await status()).toBe(401);
});

test('a crowd is a batch at a provider with a rate, which ends when somebody ends it', async () => {
  requests = [];
  const answer = await actions.find(({ group }) => group === 'A crowd')?.run('', '');
  expect(answer?.list).toEqual({ batch: expect.stringMatching(/^crowd-/) });
  const { clientId } = sandbox;
  const restrictions = async () =>
    (await provider.summary()).clients.find((one) => one.clientId === clientId)?.restrictions;
  expect(await restrictions()).toEqual({ startsPerSecond: 2, startsAtOnce: 5 });
  expect(await sandboxState({ provider })).toEqual({
    active: ['The provider takes 2 starts a second, and answers 429 to more.'],
  });
  await eventually(async () => expect(requests).toHaveLength(200));
  expect(new Set(requests.map(({ body }) => body.reference)).size).toBe(200);
  expect(requests[0]?.body).toMatchObject({ ...answer?.list, priority: 'background' });
  expect(reported).toEqual([]);
  await actions.find(({ endsFaults }) => endsFaults)?.run('', '');
  expect(await restrictions()).toEqual({});
});

test('without a terminal, every step and every wait is a plain line', () => {
  const out = new PassThrough({ encoding: 'utf8' });
  let clock = 1_000;
  const show = createRunOutput(out, () => clock);
  show.wait('deploy', 'deploying the stack');
  clock += 1_500;
  show.done('deploy', 'Cosecha-local');
  show.note('stream', 'REQUESTED → STARTING');
  show.rest();
  expect(String(out.read()).split('\n')).toEqual([
    '   0.0 s  … deploy      deploying the stack',
    '   1.5 s  ✔ deploy      Cosecha-local',
    '   1.5 s  · stream      REQUESTED → STARTING',
    '',
  ]);
});

test('an event of the provider is a line without its username, which may be a national id', () => {
  const call = { method: 'GET', path: '/api/v1/consents', status: 200, username: '11111111-1' };
  expect(eventText({ type: 'call', call } as SandboxEvent)).toBe('GET /api/v1/consents → 200');
});
