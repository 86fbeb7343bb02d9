import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeWorkDirectory } from './paths.ts';

/**
 * Returns the directory. The first call fills it under another name and renames it when it is complete, so an interrupted
 * installation is never used. `install` may leave no path of the directory in its files. Throws what `install` throws.
 */
export const installOnce = async (directory: string, install: (staging: string) => Promise<void>) => {
  if (existsSync(directory)) return directory;
  await makeWorkDirectory();
  await mkdir(dirname(directory), { recursive: true });
  const staging = `${directory}.${randomUUID()}`;
  try {
    await install(staging);
    await rename(staging, directory).catch((error: unknown) => {
      // Another process was first, and its directory is the same.
      if (!existsSync(directory)) throw error;
    });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return directory;
};
