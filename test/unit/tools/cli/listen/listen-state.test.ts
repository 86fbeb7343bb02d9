import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  defaultStateFile,
  type ListenState,
  readListenState,
  writeListenState,
} from '../../../../../tools/cli/listen/listen-state.ts';

const directory = mkdtempSync(join(tmpdir(), 'cosecha-listen-'));
afterAll(() => rmSync(directory, { recursive: true }));

const state: ListenState = {
  streamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/T/stream/1',
  secret: 'whsec_abc',
  progress: { since: '2026-11-22T10:00:00.000Z', positions: { 'shard-1': '7' } },
};

test('a state is read again, from a file that only its owner can read', async () => {
  const file = join(directory, 'new', 'listen.json');
  expect(await readListenState(file)).toBeUndefined();
  await writeListenState(file, state);
  expect(await readListenState(file)).toEqual(state);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(directory, 'new'))).toEqual(['listen.json']);
});

test('a damaged file is not taken for a first run, and its content is not quoted', async () => {
  const file = join(directory, 'damaged.json');
  writeFileSync(file, '{"secret":"whsec_SENTINEL');
  const failure = await readListenState(file).catch((error: unknown) => error as Error);
  expect(String(failure)).toContain('is not the state of a listener');
  expect(String(failure)).not.toContain('SENTINEL');
});

test('each stage has its own file in the state directory of the user', () => {
  expect(defaultStateFile('prod', { XDG_STATE_HOME: '/state' })).toBe('/state/cosecha/listen-prod.json');
  expect(defaultStateFile('local', {})).toMatch(/\/\.local\/state\/cosecha\/listen-local\.json$/);
});
