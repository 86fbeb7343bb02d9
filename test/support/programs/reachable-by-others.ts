import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The files in `path`, or `path` itself, that another user may read or write. What is in a directory that others may not enter is not. */
export const reachableByOthers = async (path: string): Promise<readonly string[]> => {
  const entry = await lstat(path);
  if (entry.isSymbolicLink()) return [];
  if (!entry.isDirectory()) return (entry.mode & 0o066) === 0 ? [] : [path];
  if ((entry.mode & 0o011) === 0) return [];
  const found = await Promise.all((await readdir(path)).map((name) => reachableByOthers(join(path, name))));
  return found.flat();
};
