import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The root of the repository. */
export const repository = join(import.meta.dirname, '..', '..');

/** Everything that local runs write, ignored by git; deleting it at any time costs only the next run's install. */
export const workDirectory = join(repository, '.cosecha');

/** Where `node` of this process is: first on the PATH of everything that must run on Node 24, the Lambdas too. */
export const nodeDirectory = dirname(process.execPath);

const runsDirectory = join(workDirectory, 'runs');

/** Enough to compare with the last runs; a run leaves 1 to 13 MB of logs and synthesized app. */
const runsKept = 10;

/**
 * A new directory for one run's logs and temporary files. The name sorts by time, and the process id keeps two runs
 * of the same millisecond apart. Older runs than the last ten are deleted, unless they are still going on.
 */
export const createRunDirectory = async (name: string, now: Date): Promise<string> => {
  await mkdir(runsDirectory, { recursive: true });
  const runs = (await readdir(runsDirectory)).sort();
  const stale = runs.slice(0, Math.max(0, runs.length - runsKept + 1)).filter((run) => !isGoingOn(run));
  await Promise.all(stale.map((run) => rm(join(runsDirectory, run), { recursive: true, force: true })));
  const directory = join(runsDirectory, `${now.toISOString().replaceAll(':', '')}-${name}-${process.pid}`);
  await mkdir(directory);
  return directory;
};

/** Whether the process whose id the name ends with is there. It may be another one by now: then the run stays longer. */
const isGoingOn = (run: string): boolean => {
  try {
    return process.kill(Number(run.split('-').at(-1)), 0);
  } catch {
    return false;
  }
};
