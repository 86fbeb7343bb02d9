import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makePrivateDirectory } from '../cli/terminal/private-files.ts';

export const repository = join(import.meta.dirname, '..', '..');

/**
 * Where local runs write, ignored by git. It can be deleted at any time; the next run then installs the emulator again. Only its owner can
 * enter it, as files below it have access keys (`makeWorkDirectory`).
 */
export const workDirectory = join(repository, '.cosecha');

/** `NODE_COMPILE_CACHE` of the processes that load as much as the CDK: from it they start in half the time. */
export const compileCache = join(workDirectory, 'compile-cache');

/** The directory of this process's `node`. It is first on the PATH of everything that needs Node 24, as the emulated functions do. */
export const nodeDirectory = dirname(process.execPath);

export const makeWorkDirectory = (): Promise<void> => makePrivateDirectory(workDirectory);

const runsDirectory = join(workDirectory, 'runs');

/** Enough to compare runs. Each leaves 1 to 13 MB of logs and synthesized app. */
const runsKept = 10;

/**
 * Creates a directory for the logs and temporary files of one run. Names sort by time and end with the process id, as two
 * runs can start in the same millisecond. All but the last ten directories are deleted, except directories of running processes.
 */
export const createRunDirectory = async (name: string, now: Date): Promise<string> => {
  await makeWorkDirectory();
  await mkdir(runsDirectory, { recursive: true });
  const runs = (await readdir(runsDirectory)).sort();
  const stale = runs.slice(0, Math.max(0, runs.length - runsKept + 1)).filter((run) => !isRunning(run));
  await Promise.all(stale.map((run) => rm(join(runsDirectory, run), { recursive: true, force: true })));
  const directory = join(runsDirectory, `${now.toISOString().replaceAll(':', '')}-${name}-${process.pid}`);
  await mkdir(directory);
  return directory;
};

/** Whether the process whose id ends the name exists. If another process has that id now, the directory is kept longer. */
const isRunning = (run: string): boolean => {
  try {
    return process.kill(Number(run.split('-').at(-1)), 0);
  } catch {
    return false;
  }
};
