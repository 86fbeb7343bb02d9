import { parentPort, workerData } from 'node:worker_threads';
import { importPatched } from '../../support/programs/patch-source.ts';
import { plantedFaults } from './all-faults.ts';
import type { PlantedFault } from './planted-fault.ts';
import type { Caught } from './search-with-fault.ts';

const search = async (fault: PlantedFault): Promise<Caught> => {
  if (fault.world === undefined) {
    const module = 'test/simulation/planted-faults/search-with-fault.ts';
    return (await importPatched<typeof import('./search-with-fault.ts')>(module, fault)).searchWithFault(
      fault,
    );
  }
  if (fault.world === 'enumeration') {
    const module = 'test/enumeration/search.ts';
    return (
      await importPatched<typeof import('../../enumeration/search.ts')>(module, fault)
    ).searchWithFault();
  }
  const module = 'test/simulation/populations/search.ts';
  const patched = await importPatched<typeof import('../populations/search.ts')>(module, fault);
  return patched.searchWithFault(fault.world, fault.firstSeed);
};

/** One worker: searches with each fault that its data names, and posts what it found. */
const names: readonly string[] = workerData;
for (const fault of plantedFaults.filter(({ name }) => names.includes(name))) {
  parentPort?.postMessage({ name: fault.name, caught: await search(fault) });
}
