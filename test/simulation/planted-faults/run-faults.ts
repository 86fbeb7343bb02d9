import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { plantedFaults } from './all-faults.ts';
import type { PlantedFault } from './planted-fault.ts';
import type { Caught } from './search-with-fault.ts';

/** By the name of its fault. */
type Search = readonly [string, Promise<Caught>];

const searchShare = (faults: readonly PlantedFault[]): readonly Search[] => {
  const names = faults.map(({ name }) => name);
  const worker = new Worker(new URL('fault-worker.ts', import.meta.url), {
    workerData: names,
    execArgv: [...process.execArgv, '--disable-warning=ExperimentalWarning'],
  });
  const searches = faults.map((fault) => ({ fault, ...Promise.withResolvers<Caught>() }));
  const failAll = (error: unknown): void => {
    for (const { promise, reject } of searches) {
      promise.catch(() => undefined);
      reject(error);
    }
  };
  worker.on('message', ({ name, caught }: { readonly name: string; readonly caught: Caught }) =>
    searches.find(({ fault }) => fault.name === name)?.resolve(caught),
  );
  worker.on('error', failAll);
  worker.on('exit', (code) => failAll(new Error(`The worker ended with ${code} before this fault.`)));
  return searches.map(({ fault, promise }) => [fault.name, promise]);
};

/** Searches with each fault in the product, on every core. One process loads the types and the libraries once for all. */
export const searchFaults = (): ReadonlyMap<string, Promise<Caught>> => {
  const workers = availableParallelism();
  const shares = Array.from({ length: workers }, (_, worker) =>
    plantedFaults.filter((_fault, index) => index % workers === worker),
  );
  return new Map(shares.flatMap(searchShare));
};

const report = (fault: PlantedFault, { invariant, schedules, schedule, trace }: Caught): string[] => {
  const caught = invariant === undefined ? 'NOT CAUGHT' : `caught by ${invariant}`;
  const expected = invariant === fault.caughtBy ? '' : ` (expected: ${fault.caughtBy})`;
  return [
    fault.name,
    `  ${caught}${expected} after ${schedules} schedules, in ${schedule}`,
    ...(expected === '' || trace === '' ? [] : [trace]),
  ];
};

/** Runs all faults. Prints each, and returns whether the expected invariant caught each. */
export const runFaults = async (print: (line: string) => void): Promise<boolean> => {
  let missed = 0;
  const searches = searchFaults();
  for (const fault of plantedFaults) {
    const found = await (searches.get(fault.name) as Promise<Caught>);
    if (found.invariant !== fault.caughtBy) missed += 1;
    for (const line of report(fault, found)) print(line);
  }
  print(`${plantedFaults.length - missed} of ${plantedFaults.length} caught as expected.`);
  return missed === 0;
};
