/**
 * `npm run bench`: ratios, each of two things measured in turns in this one run, and what a million extractions
 * cost, from requests counted in the real code. Nothing here is a test.
 */
import { compareColdImport } from './cold-import.ts';
import { costPerMillion } from './cost.ts';
import { compareVerify } from './verify.ts';

for (const { what, dollars } of await costPerMillion())
  console.log(`$${dollars.toFixed(2).padStart(6)}  ${what}`);
for (const { what, ratio, wanted } of [...(await compareVerify()), ...(await compareColdImport())]) {
  console.log(`${ratio.toFixed(2)}  ${what}${wanted === undefined ? '' : `; wanted ${wanted}`}`);
}
