import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SandboxControl, sandboxControl } from '../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../sandbox/sandbox.ts';

let sandbox: RunningSandbox;
let control: SandboxControl;
beforeAll(async () => {
  sandbox = await startSandbox();
  control = sandboxControl(sandbox.baseUrl);
});
afterAll(() => sandbox.close());

const status = async (method: string, path: string) =>
  (await fetch(`${sandbox.baseUrl}${path}`, { method })).status;

test('any route misbehaves as often as it is told to, then is as usual', async () => {
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

test('a trickled answer sends one byte and then takes its time; a reset forgets faults', async () => {
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

test('down, it takes no connection, and is back on the same address after that', async () => {
  await control.goDown(1);
  await expect
    .poll(() => status('GET', '/api/v1/consents').catch((error: Error) => error.cause), { timeout: 900 })
    .toMatchObject({ code: 'ECONNREFUSED' });
  await expect.poll(() => status('GET', '/api/v1/consents').catch(() => 0), { timeout: 5_000 }).toBe(401);
});

test('a misspelt fault is refused with the place of the mistake', async () => {
  const misspelt = [{ path: '/x', behaviors: [] }] as never;
  await expect(control.setFaults(misspelt)).rejects.toMatchObject({ status: 400 });
});
