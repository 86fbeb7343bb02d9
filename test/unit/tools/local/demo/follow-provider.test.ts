import { afterAll, beforeAll, expect, it } from 'vitest';
import { followProvider } from '../../../../../tools/local/demo/follow-provider.ts';
import { sandboxControl } from '../../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../../sandbox/sandbox.ts';

let sandbox: RunningSandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ port: 0 });
});
afterAll(() => sandbox.close());

const succeeds = (call: Promise<unknown>) =>
  call.then(
    () => true,
    () => false,
  );

it('continues after the last event once the provider is up again', async () => {
  const control = sandboxControl(sandbox.baseUrl);
  const stop = new AbortController();
  const events = followProvider(control, stop.signal);
  const next = async () => (await events.next()).value;

  await control.reset();
  const before = await next();
  expect(before).toMatchObject({ type: 'reset' });

  const cut = next();
  await control.goDown(0.3);
  await expect.poll(() => succeeds(control.summary())).toBe(false);
  await expect.poll(() => succeeds(control.reset())).toBe(true);
  expect(await cut).toMatchObject({ type: 'reset', seq: (before?.seq ?? 0) + 1 });

  const ended = next();
  stop.abort();
  await expect(ended).rejects.toThrow(/abort/i);
});
