import { parentPort, workerData } from 'node:worker_threads';
import { searchCases } from '../../fuzz/search-with-fault.ts';
import { importPatched } from '../../support/programs/patch-source.ts';
import { plantedFaults } from './all-faults.ts';
import type { PlantedFault } from './planted-fault.ts';
import type { Caught } from './search-with-fault.ts';

type Search = { readonly searchWithFault: (fault: PlantedFault) => Promise<Caught> };

const moduleFor = ({ world }: PlantedFault): string => {
  if (world === undefined) return 'test/simulation/planted-faults/search-with-fault.ts';
  return world === 'enumeration'
    ? 'test/enumeration/search.ts'
    : 'test/simulation/many-extractions/search.ts';
};

const searchPatched = async (fault: PlantedFault): Promise<Caught> => {
  const { searchWithFault } = await importPatched<Search>(moduleFor(fault), fault);
  return searchWithFault(fault);
};

/** One worker: searches with each fault that its data names, and posts what it found. */
const names: readonly string[] = workerData;
for (const fault of plantedFaults.filter(({ name }) => names.includes(name))) {
  const caught = fault.world === 'fuzz' ? searchCases(fault) : searchPatched(fault);
  parentPort?.postMessage({ name: fault.name, caught: await caught });
}
