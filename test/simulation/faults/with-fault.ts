import { importPatched } from '../../support/patch-source.ts';
import { plantedFaults } from './planted-faults.ts';
import type { Caught } from './search-with-fault.ts';

/** A program: searches with the fault that its argument names, and prints the finding as JSON. */
const fault = plantedFaults.find(({ name }) => name === process.argv[2]);
if (fault === undefined) throw new Error(`There is no fault ${process.argv[2]}.`);

const search = async (): Promise<Caught> => {
  if (fault.world === undefined) {
    const module = 'test/simulation/faults/search-with-fault.ts';
    return (await importPatched<typeof import('./search-with-fault.ts')>(module, fault)).searchWithFault(
      fault,
    );
  }
  const module = 'test/simulation/populations/search.ts';
  const patched = await importPatched<typeof import('../populations/search.ts')>(module, fault);
  return patched.searchWithFault(fault.world, fault.firstSeed);
};
process.stdout.write(JSON.stringify(await search()));
