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

const system = {
  endpoint: 'http://127.0.0.1:4566',
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
};

test('what is served is found again, in a file that only its owner reads', async () => {
  writeFileSync(file, 'left by another run', { mode: 0o644 });
  await writeLocalDeployment(root, system);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await readLocalDeployment(root)).toEqual(system);
});

test('it is taken back at the end, but not for somebody else', async () => {
  await writeLocalDeployment(root, { ...system, endpoint: 'http://127.0.0.1:5000' });
  await removeLocalDeployment(root, system);
  expect(await readLocalDeployment(root)).toMatchObject({ endpoint: 'http://127.0.0.1:5000' });
  await writeLocalDeployment(root, system);
  await removeLocalDeployment(root, system);
  expect(await readLocalDeployment(root)).toBeUndefined();
});

test('a file that says something else says nothing', async () => {
  writeFileSync(file, '{"endpoint": 5}');
  expect(await readLocalDeployment(root)).toBeUndefined();
});
