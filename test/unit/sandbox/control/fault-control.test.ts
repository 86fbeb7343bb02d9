import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type SandboxControl, sandboxControl } from '../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';

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
