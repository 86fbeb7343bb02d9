/**
 * `npm run bench:load`: extractions per second through the whole system on an emulator, and the usage of an extraction while
 * 10, 100 and 1,000 others are open. With `-- --backlog`, which takes some ten minutes: how fast 5,000 due records are
 * reconciled. Times and rates are of this machine and the emulator, not of AWS. Counts are the same on AWS.
 */
import { cpus } from 'node:os';
import { runUntilStopped, type StoppableRun } from '../../support/programs/run-until-stopped.ts';
import { providerAnswerMs } from '../assumptions.ts';
import { followRecords, type Records } from './follow-records.ts';
import { measureDrain } from './measure-drain.ts';
import { heldOpen, measureFlatness } from './measure-flatness.ts';
import { measureThroughput } from './measure-throughput.ts';
import { callsTable, drainTable, flatnessTable, throughputTable } from './result-tables.ts';
import { type MeasuredSystem, startMeasuredSystem } from './start-measured-system.ts';

const print = (...lines: readonly string[]): void => console.log(`${lines.join('\n')}\n`);

/** Runs the work on a system of its own, which is stopped at the end. */
const onSystem = async (
  benchmark: StoppableRun,
  options: Parameters<typeof startMeasuredSystem>[1],
  work: (system: MeasuredSystem, records: Records) => Promise<void>,
): Promise<void> => {
  const system = await startMeasuredSystem(benchmark, options);
  const records = await followRecords(system, benchmark);
  await benchmark.untilStopped(work(system, records));
};

const measureSystem = (benchmark: StoppableRun): Promise<void> =>
  onSystem(benchmark, { recorded: true }, async (system, records) => {
    print('1. Extractions through the whole system on the emulator');
    print(throughputTable(await measureThroughput(system, records)));

    print(
      `2. Usage of an extraction while others are open: ${heldOpen} run through the whole system with tasks that do not end,`,
      'the others are copies of their items, which only a query of the index reads',
    );
    const flatness = await measureFlatness(system, records);
    print(flatnessTable(flatness));
    print(callsTable(flatness));
    print(
      'Units are computed from the items in requests and answers, as in npm run cost, with attributes as long as on AWS.',
      'Reads of secrets, which are per process, and calls to the provider are not included.',
    );
  });

const measureBacklog = (benchmark: StoppableRun): Promise<void> =>
  onSystem(benchmark, { recorded: false }, async (system, records) => {
    print(`Due records until they are closed. The provider takes ${providerAnswerMs} ms for each read.`);
    const drains = await measureDrain(system, records, ({ what, seconds }) =>
      console.error(`   ${what}: ${seconds.toFixed(0)} s`),
    );
    print(drainTable(drains));
    print('The emulator is one process of Python and runs a process for each consumer, on the same cores.');
  });

await runUntilStopped(async (benchmark) => {
  print(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}. The emulator runs each function as a Node process on these cores,`,
    'so times and rates are of this machine and the emulator, not of AWS.',
  );
  return process.argv.includes('--backlog') ? measureBacklog(benchmark) : measureSystem(benchmark);
});
