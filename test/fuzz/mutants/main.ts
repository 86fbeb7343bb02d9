import { importPatched } from '../../support/patch-source.ts';
import type { FuzzProperty } from '../property.ts';
import { runProperty } from '../run-property.ts';
import { type Mutant, mutants } from './mutants.ts';

/** A mutant that survives so many cases counts as missed. Most are caught in the first hundred. */
const cases = 10_000;

/** The same cases in every run, so that no mutant is missed by chance. */
const seed = 1;

/** The property that must catch the mutant, imported with the mutant in the product. */
const propertyFor = async (mutant: Mutant): Promise<FuzzProperty | undefined> => {
  const module = `test/fuzz/${mutant.caughtBy}.ts`;
  const exported = await importPatched<Record<string, FuzzProperty>>(module, mutant);
  return Object.values(exported).find(({ name }) => name === mutant.caughtBy);
};

const missed: string[] = [];
for (const mutant of mutants) {
  const property = await propertyFor(mutant);
  const run =
    property === undefined ? undefined : await runProperty(property, { seed, cases, shrink: false });
  if (run?.failure === undefined) missed.push(mutant.name);
  const found = run?.failure === undefined ? '✘ not found' : `✔ after ${String(run.cases).padStart(4)} cases`;
  console.log(`${found}  ${mutant.caughtBy.padEnd(34)} ${mutant.name}`);
}
console.log(`\n${mutants.length - missed.length} of ${mutants.length} mutants caught`);
if (missed.length > 0) process.exitCode = 1;
