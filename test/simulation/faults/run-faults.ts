import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { limitTo } from '../../../tools/acceptance/checks/limit-to.ts';
import { compileCache } from '../../../tools/local/paths.ts';
import type { PlantedFault } from './planted-fault.ts';
import { plantedFaults } from './planted-faults.ts';
import type { Caught } from './search-with-fault.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('with-fault.ts', import.meta.url));

const env = { ...process.env, NODE_COMPILE_CACHE: compileCache };

/** As many searches at a time as there are cores. The others wait. */
const paced = limitTo(availableParallelism());

/** Runs the search with a fault in the product, in a process of its own. */
export const runFault = ({ name }: PlantedFault): Promise<Caught> =>
  paced(async () => {
    const { stdout } = await run(process.execPath, [program, name], { env, maxBuffer: 64 * 1024 * 1024 });
    return JSON.parse(stdout) as Caught;
  });

const report = (fault: PlantedFault, { invariant, schedules, schedule, trace }: Caught): string[] => {
  const caught = invariant === undefined ? 'NOT CAUGHT' : `caught by ${invariant}`;
  const expected = invariant === fault.caughtBy ? '' : ` (expected: ${fault.caughtBy})`;
  return [
    `${fault.name}: ${fault.does}`,
    `  ${caught}${expected} after ${schedules} schedules, in ${schedule}`,
    ...(expected === '' || trace === '' ? [] : [trace]),
  ];
};

/** Runs all faults, one per core at a time. Prints each, and returns whether the expected invariant caught each. */
export const runFaults = async (print: (line: string) => void): Promise<boolean> => {
  let missed = 0;
  const runOne = async (fault: PlantedFault): Promise<void> => {
    const caught = await runFault(fault);
    if (caught.invariant !== fault.caughtBy) missed += 1;
    for (const line of report(fault, caught)) print(line);
  };
  await Promise.all(plantedFaults.map(runOne));
  print(`${plantedFaults.length - missed} of ${plantedFaults.length} caught as expected.`);
  return missed === 0;
};
