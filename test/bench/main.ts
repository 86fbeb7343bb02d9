/** `npm run bench`: ratios, each of two things measured in turns in this one run. Nothing here is a test. */
import { compareColdImport } from './cold-import.ts';
import { compareVerify } from './verify.ts';

for (const { what, ratio, wanted } of [...(await compareVerify()), ...(await compareColdImport())]) {
  console.log(`${ratio.toFixed(2)}  ${what}${wanted === undefined ? '' : `; wanted ${wanted}`}`);
}
