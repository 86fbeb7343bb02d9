import { mkdirSync, readdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ExpectedFailure } from '../../../tools/local/expected-failure.ts';
import type { Entry } from './entry.ts';

/** The invocations that the functions of a run have recorded. */
export type Ledger = {
  /** The invocations of all processes, in the order in which they ended. The same one is always the same object. */
  entries(): readonly Entry[];
  /** Resolves once there are at least `count` entries that fit. Rejects when `signal` aborts. */
  atLeast(count: number, fits: (entry: Entry) => boolean, signal: AbortSignal): Promise<void>;
};

/**
 * A ledger in the directory of a run, and the environment for its emulator that makes every function write there.
 *
 * @throws ExpectedFailure if `AWS_ENDPOINT_URL` names a running emulator
 */
export const createLedger = (
  runDirectory: string,
): { ledger: Ledger; emulatorEnv: Record<string, string> } => {
  if (process.env.AWS_ENDPOINT_URL) {
    throw new ExpectedFailure(
      'AWS_ENDPOINT_URL is set. Unset it: the functions record their calls only on a new emulator.',
    );
  }
  const directory = join(runDirectory, 'ledger');
  mkdirSync(directory);
  const preload = pathToFileURL(join(import.meta.dirname, 'preload.ts')).href;
  return {
    ledger: openLedger(directory),
    emulatorEnv: { COSECHA_LEDGER: directory, NODE_OPTIONS: `--import=${preload}` },
  };
};

/** The files that `preload.ts` writes into `directory`. */
export const openLedger = (directory: string): Ledger => {
  const known = new Map<string, readonly Entry[]>();

  const readOn = (name: string): readonly Entry[] => {
    const before = known.get(name) ?? [];
    // The text after the last line break is still being written.
    const lines = readFileSync(join(directory, name), 'utf8').split('\n').slice(before.length, -1);
    const entries = [...before, ...lines.map((line) => JSON.parse(line) as Entry)];
    known.set(name, entries);
    return entries;
  };
  const entries = (): readonly Entry[] =>
    readdirSync(directory)
      .flatMap(readOn)
      .sort((one, other) => one.endedAt - other.endedAt);

  const atLeast = (count: number, fits: (entry: Entry) => boolean, signal: AbortSignal): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const resolveIfThere = () => {
      if (entries().filter(fits).length >= count) resolve();
    };
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    const watcher = watch(directory, resolveIfThere).on('error', reject);
    // They may exist before the watch starts.
    resolveIfThere();
    return promise.finally(() => {
      watcher.close();
      signal.removeEventListener('abort', onAbort);
    });
  };

  return { entries, atLeast };
};
