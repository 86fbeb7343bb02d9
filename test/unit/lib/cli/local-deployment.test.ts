import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import {
  readLocalDeployment,
  removeLocalDeployment,
  writeLocalDeployment,
} from '../../../../lib/cli/local-deployment.ts';

const root = mkdtempSync(join(tmpdir(), 'cosecha-running-'));
mkdirSync(join(root, '.cosecha'));
const file = join(root, '.cosecha', 'running.json');
afterEach(() => rmSync(file, { force: true }));

const deployment = {
  endpoint: 'http://127.0.0.1:4566',
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
};

test('a written deployment is read again, from a file that only its owner can read', async () => {
  writeFileSync(file, 'of another run', { mode: 0o644 });
  await writeLocalDeployment(root, deployment);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await readLocalDeployment(root)).toEqual(deployment);
});

test('the file is removed, but not that of another deployment', async () => {
  await writeLocalDeployment(root, { ...deployment, endpoint: 'http://127.0.0.1:5000' });
  await removeLocalDeployment(root, deployment);
  expect(await readLocalDeployment(root)).toMatchObject({ endpoint: 'http://127.0.0.1:5000' });
  await writeLocalDeployment(root, deployment);
  await removeLocalDeployment(root, deployment);
  expect(await readLocalDeployment(root)).toBeUndefined();
});

test('a file with other content is ignored', async () => {
  writeFileSync(file, '{"endpoint": 5}');
  expect(await readLocalDeployment(root)).toBeUndefined();
});
