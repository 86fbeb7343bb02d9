import { runProperty } from '../run-property.ts';
import { mutantLoader } from './load-mutant.ts';
import { mutants } from './mutants.ts';

/** A fault that is not found in so many cases counts as missed; most are found in the first hundred. */
const cases = 10_000;

const seed = Math.floor(Math.random() * 2 ** 31);
console.log(`seed ${seed}`);

const load = mutantLoader(mutants);
const missed: string[] = [];
for (const mutant of mutants) {
  const property = await load(mutant);
  const run =
    property === undefined ? undefined : await runProperty(property, { seed, cases, shrink: false });
  if (run?.failure === undefined) missed.push(mutant.name);
  const found = run?.failure === undefined ? '✘ not found' : `✔ after ${String(run.cases).padStart(4)} cases`;
  console.log(`${found}  ${mutant.caughtBy.padEnd(34)} ${mutant.name}`);
}
console.log(`\n${mutants.length - missed.length} of ${mutants.length} deliberate faults caught`);
if (missed.length > 0) process.exitCode = 1;
