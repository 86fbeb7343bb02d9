import { importPatched } from '../../support/programs/patch-source.ts';
import type { FuzzProperty } from '../property.ts';
import { runProperty } from '../run-property.ts';
import { type PlantedFault, plantedFaults } from './planted-faults.ts';

/** A fault that survives so many cases counts as missed. Most are caught in the first hundred. */
const cases = 10_000;

/** The same cases in every run, so that no fault is missed by chance. */
const seed = 1;

/** The property that must catch the fault, imported with the fault in the product. */
const propertyFor = async (fault: PlantedFault): Promise<FuzzProperty | undefined> => {
  const module = `test/fuzz/${fault.caughtBy}.ts`;
  const exported = await importPatched<Record<string, FuzzProperty>>(module, fault);
  return Object.values(exported).find(({ name }) => name === fault.caughtBy);
};

const missed: string[] = [];
for (const fault of plantedFaults) {
  const property = await propertyFor(fault);
  const run =
    property === undefined ? undefined : await runProperty(property, { seed, cases, shrink: false });
  if (run?.failure === undefined) missed.push(fault.name);
  const found = run?.failure === undefined ? '✘ not found' : `✔ after ${String(run.cases).padStart(4)} cases`;
  console.log(`${found}  ${fault.caughtBy.padEnd(34)} ${fault.name}`);
}
console.log(`\n${plantedFaults.length - missed.length} of ${plantedFaults.length} planted faults caught`);
if (missed.length > 0) process.exitCode = 1;
