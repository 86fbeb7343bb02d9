import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { repository } from '../../../../tools/local/paths.ts';

/** An emulator that never answers, so that the run waits for it. */
const silent = createServer(() => undefined);
await once(silent.listen(0, '127.0.0.1'), 'listening');
afterAll(() => {
  silent.closeAllConnections();
  silent.close();
});

test('npm start --once that is interrupted does not exit 0', async () => {
  const called = once(silent, 'request');
  const child = spawn(process.execPath, [join(repository, 'tools', 'local', 'start.ts'), '--once'], {
    env: {
      ...process.env,
      AWS_ENDPOINT_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_REGION: 'us-east-1',
    },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  await called;
  child.kill('SIGINT');
  expect(await exited).toEqual([130, null]);
});
