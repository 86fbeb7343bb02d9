import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import {
  claimLocalDeployment,
  readLocalDeployment,
  removeLocalDeployment,
} from '../../../../../tools/cli/aws/local-deployment.ts';

const root = mkdtempSync(join(tmpdir(), 'cosecha-running-'));
mkdirSync(join(root, '.cosecha'));
const file = join(root, '.cosecha', 'running.json');
afterEach(() => rmSync(file, { force: true }));

const listening = async () => {
  const server = createServer((_request, response) => response.writeHead(503).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const deployment = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    sandboxControlUrl: 'http://127.0.0.1:4010/_sandbox',
  };
  return { server, deployment };
};

const { server: ending, deployment: ended } = await listening();
const { server: emulator, deployment: serving } = await listening();
await new Promise((resolve) => ending.close(resolve));
afterAll(() => emulator.close());

test('a claimed deployment is read again, from a file that only its owner can read', async () => {
  writeFileSync(file, 'of another run', { mode: 0o644 });
  expect(await claimLocalDeployment(root, ended)).toBeUndefined();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await readLocalDeployment(root)).toEqual(ended);
});

test('a deployment that serves keeps the file, and one that has ended does not', async () => {
  await claimLocalDeployment(root, ended);
  expect(await claimLocalDeployment(root, serving)).toBeUndefined();
  expect(await claimLocalDeployment(root, ended)).toEqual(serving);
  expect(await readLocalDeployment(root)).toEqual(serving);
});

test('the file is removed, but not that of another deployment', async () => {
  await claimLocalDeployment(root, ended);
  await removeLocalDeployment(root, serving);
  expect(await readLocalDeployment(root)).toEqual(ended);
  await removeLocalDeployment(root, ended);
  expect(await readLocalDeployment(root)).toBeUndefined();
});

test('a file with other content is ignored', async () => {
  writeFileSync(file, '{"endpoint": 5}');
  expect(await readLocalDeployment(root)).toBeUndefined();
});
