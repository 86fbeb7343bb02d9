import { importPatched } from '../../support/patch-source.ts';
import { injectedFaults } from './injected-faults.ts';

/** Run as a process of its own, with the name of a fault: searches with that fault, and prints what it found as JSON. */
const fault = injectedFaults.find(({ name }) => name === process.argv[2]);
if (fault === undefined) throw new Error(`There is no fault ${process.argv[2]}.`);

const { searchWithFault } = await importPatched<typeof import('./search-with-fault.ts')>(
  'test/simulation/faults/search-with-fault.ts',
  fault,
);
process.stdout.write(JSON.stringify(await searchWithFault(fault)));
