import { afterEach, beforeEach, expect, test } from 'vitest';
import { terminalStatuses } from '../../../../lib/extraction/record.ts';
import type { ConsoleAction } from '../../../../tools/cli/console/actions.ts';
import { sandboxActions } from '../../../../tools/local/sandbox-actions.ts';
import { type SandboxControl, sandboxControl } from '../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';

const extractionId = '0190a0b0-0000-7000-8000-000000000001';

let sandbox: RunningSandbox;
let provider: SandboxControl;
let actions: readonly ConsoleAction[];
let requests: { readonly url: string; readonly body: Record<string, unknown> }[] = [];
beforeEach(async () => {
  sandbox = await startSandbox();
  provider = sandboxControl(sandbox.baseUrl);
  const fetch = async (url: string, init?: RequestInit): Promise<Response> => {
    requests.push({ url, body: JSON.parse(String(init?.body)) });
    return Response.json({ extractionId }, { status: 202 });
  };
  actions = sandboxActions({
    provider,
    endOutage: sandbox.comeBack,
    api: { base: 'http://api.example', fetch },
  });
});
afterEach(() => sandbox.close());

test('there is an action for every final status of the provider, and for every outcome of Cosecha', () => {
  const labels = actions.map(({ label }) => label.split(':')[0]);
  const own = ['REJECTED', 'UNCONFIRMED', 'NOT_STARTED', 'TIMED_OUT'];
  expect(labels).toEqual(expect.arrayContaining([...terminalStatuses, ...own]));
  expect(new Set(actions.map(({ id }) => id)).size).toBe(actions.length);
});

test('each start and each webhook requests one extraction, after the sandbox has accepted its plan', async () => {
  const starting = actions.filter(({ id }) => !id.startsWith('provider-'));
  for (const { label, run } of starting) {
    requests = [];
    expect(await run('', '')).toMatchObject({ extractionId });
    expect(requests).toMatchObject([
      { url: 'http://api.example/extractions', body: { reference: `sandbox: ${label}` } },
    ]);
  }
  const planned = starting.filter(({ id }) =>
    /^webhook-|rejected|unconfirmed|not-started|timed-out/.test(id),
  );
  expect((await provider.summary()).counts.plans).toBe(planned.length);
});

test('the provider fails, hangs and stops, and recovers from each', async () => {
  const run = (id: string) => actions.find((action) => action.id === id)?.run('', '');
  const status = async () => (await fetch(`${sandbox.baseUrl}/api/v1/consents`)).status;
  await run('provider-fail');
  expect(await status()).toBe(503);
  await run('provider-recover');
  expect(await status()).toBe(401);
  await run('provider-stop');
  // It answers this call before it closes.
  await expect(async () => {
    for (;;) await provider.summary();
  }).rejects.toThrow('does not answer');
  await run('provider-recover');
  expect(await status()).toBe(401);
});
