import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reachableByOthers } from '#support/programs/reachable-by-others.ts';
import { temporaryDirectory } from '#support/programs/temporary-directory.ts';
import { makePrivateDirectory, replacePrivately, writePrivately } from '#tools/cli/terminal/private-files.ts';

test('a file that a command writes is new, and its owner alone can read it', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'file');
  await writePrivately(path, 'text');
  expect([(await stat(path)).mode & 0o777, await readFile(path, 'utf8')]).toEqual([0o600, 'text']);
  await expect(writePrivately(path, 'other')).rejects.toThrow('exists, and is not overwritten');
  await symlink(join(directory, 'nothing'), join(directory, 'link'));
  await expect(writePrivately(join(directory, 'link'), 'other')).rejects.toThrow('exists');
  await expect(writePrivately(join(directory, 'no', 'file'), 'other')).rejects.toThrow(
    'could not be written',
  );
});

test('a file that is replaced is a new one, not the target of a link or one of another mode', async () => {
  const directory = temporaryDirectory();
  const [path, target] = [join(directory, 'file'), join(directory, 'target')];
  await writeFile(target, 'mine');
  await symlink(target, path);
  await replacePrivately(path, 'text');
  expect([(await stat(path)).mode & 0o777, await readFile(path, 'utf8')]).toEqual([0o600, 'text']);
  expect(await readFile(target, 'utf8')).toBe('mine');
  expect((await readdir(directory)).toSorted()).toEqual(['file', 'target']);
});

test('a directory is made private although it was there, and so is all that is in it', async () => {
  const directory = join(temporaryDirectory(), 'work');
  await mkdir(join(directory, 'runs'), { recursive: true, mode: 0o755 });
  await writeFile(join(directory, 'runs', 'key.json'), '{}', { mode: 0o644 });
  expect(await reachableByOthers(directory)).toEqual([join(directory, 'runs', 'key.json')]);
  await makePrivateDirectory(directory);
  expect(await reachableByOthers(directory)).toEqual([]);
});
