import { importPatched } from '../../support/patch-source.ts';
import { injectedFaults } from './injected-faults.ts';

/** A program: searches with the fault that its argument names, and prints the finding as JSON. */
const fault = injectedFaults.find(({ name }) => name === process.argv[2]);
if (fault === undefined) throw new Error(`There is no fault ${process.argv[2]}.`);

const { searchWithFault } = await importPatched<typeof import('./search-with-fault.ts')>(
  fault.world === 'outage'
    ? 'test/simulation/outage/search.ts'
    : 'test/simulation/faults/search-with-fault.ts',
  fault,
);
process.stdout.write(JSON.stringify(await searchWithFault(fault)));
