import { readdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from './entry.ts';

/** What the functions of a run have written down, and will. */
export type Ledger = {
  /** Of all processes, in the order in which the invocations ended. The same object each time for the same one. */
  entries(): readonly Entry[];
  /** Resolves once there are at least `count` entries that fit. Rejects when `signal` aborts. */
  atLeast(count: number, fits: (entry: Entry) => boolean, signal: AbortSignal): Promise<void>;
};

/** The files that `preload.ts` writes into `directory`. */
export const openLedger = (directory: string): Ledger => {
  const known = new Map<string, readonly Entry[]>();

  const readOn = (name: string): readonly Entry[] => {
    const before = known.get(name) ?? [];
    // What comes after the last line break is still being written.
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
    // They may have come before anybody watched.
    resolveIfThere();
    return promise.finally(() => {
      watcher.close();
      signal.removeEventListener('abort', onAbort);
    });
  };

  return { entries, atLeast };
};
