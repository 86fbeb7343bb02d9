import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { DeliberateFault } from './deliberate-fault.ts';
import { deliberateFaults } from './deliberate-faults.ts';
import type { Caught } from './search-with-fault.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('with-fault.ts', import.meta.url));

/** Runs the search with a fault in the product. */
export const runFault = async ({ name }: DeliberateFault): Promise<Caught> => {
  const { stdout } = await run(process.execPath, [program, name], { maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout) as Caught;
};

/** Runs them all, as many at a time as there are cores. Returns whether each was caught as it should be. */
export const runFaults = async (tell: (line: string) => void): Promise<boolean> => {
  const waiting = [...deliberateFaults];
  let missed = 0;
  const work = async (): Promise<void> => {
    for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift()) {
      const { invariant, schedules, schedule, trace } = await runFault(fault);
      const asExpected = invariant === fault.caughtBy;
      if (!asExpected) missed += 1;
      const verdict = asExpected ? '' : `  expected: ${fault.caughtBy}`;
      tell(
        `${fault.name.padEnd(36)} ${(invariant ?? 'NOT CAUGHT').padEnd(28)} ${String(schedules).padStart(6)} schedules  ${schedule}${verdict}`,
      );
      if (!asExpected && trace !== '') tell(trace);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  tell(`${deliberateFaults.length - missed} of ${deliberateFaults.length} caught as expected.`);
  return missed === 0;
};
