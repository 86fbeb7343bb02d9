import type { PlantedFault } from '../simulation/planted-faults/planted-fault.ts';
import type { Caught } from '../simulation/planted-faults/search-with-fault.ts';
import { importPatched } from '../support/programs/patch-source.ts';
import type { FuzzProperty } from './property.ts';
import { runProperty } from './run-property.ts';

/** A fault that survives so many cases counts as missed. Most are caught in the first hundred. */
const cases = 10_000;

/** Runs only the property that must catch the fault, with the same cases in every run. */
export const searchCases = async (fault: PlantedFault): Promise<Caught> => {
  const { caughtBy } = fault;
  const exported = await importPatched<Record<string, FuzzProperty>>(`test/fuzz/${caughtBy}.ts`, fault);
  const property = Object.values(exported).find(({ name }) => name === caughtBy);
  if (property === undefined) throw new Error(`There is no property ${caughtBy}.`);
  const { failure, cases: schedules } = await runProperty(property, { seed: 1, cases, shrink: false });
  const invariant = failure && caughtBy;
  return { invariant, schedules, schedule: failure?.replay ?? '', trace: failure?.error ?? '' };
};
