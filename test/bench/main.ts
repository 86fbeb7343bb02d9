/**
 * `npm run bench`: ratios, each of two things measured in turns in this one run, and what a million extractions
 * cost, from requests counted in the real code. Nothing here is a test.
 */
import { compareColdImport } from './cold-import.ts';
import { type Cost, costPerMillion, costPerMonth, leftOut } from './cost.ts';
import { compareVerify } from './verify.ts';

const tell = (costs: readonly Cost[]): void => {
  for (const { what, dollars } of costs) console.log(`$${dollars.toFixed(2).padStart(6)}  ${what}`);
};

console.log('A million extractions:');
tell(await costPerMillion());
console.log('A month, whatever is extracted, beside what docs/operations.md adds up for watching it:');
tell(costPerMonth());
console.log(`Left out: ${leftOut}.`);
for (const { what, ratio, wanted } of [...(await compareVerify()), ...(await compareColdImport())]) {
  console.log(`${ratio.toFixed(2)}  ${what}${wanted === undefined ? '' : `; wanted ${wanted}`}`);
}
