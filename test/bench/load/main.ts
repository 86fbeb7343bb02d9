/**
 * `npm run bench:load`: deliveries per second through the webhook's handler, extractions per second through the whole
 * system on an emulator, and the usage of an extraction while 10, 100 and 1,000 others are open. With `-- --backlog`, which
 * takes some ten minutes: how fast 5,000 due records are reconciled. Times and rates are of this machine and the emulator, not
 * of AWS. Counts are the same on AWS.
 */
import { cpus } from 'node:os';
import { ExpectedFailure } from '../../../tools/local/expected-failure.ts';
import { providerAnswerMs } from '../assumptions.ts';
import { followRecords, type Records } from './follow-records.ts';
import { measureDrain } from './measure-drain.ts';
import { heldOpen, measureFlatness } from './measure-flatness.ts';
import { measureThroughput } from './measure-throughput.ts';
import { measureWebhook } from './measure-webhook.ts';
import { type MeasuredSystem, startMeasuredSystem } from './measured-system.ts';
import { callsTable, drainTable, flatnessTable, throughputTable, webhookTable } from './tables.ts';

const print = (...lines: readonly string[]): void => console.log(`${lines.join('\n')}\n`);

const stopped = new AbortController();
// The signal may come twice: from the terminal and from npm.
process.on('SIGINT', () => stopped.abort());

/** Runs the work until Ctrl-C. The caller then stops what the work has started. */
const untilStopped = <T>(going: Promise<T>): Promise<T> =>
  Promise.race([
    going,
    new Promise<never>((_, reject) => {
      stopped.signal.addEventListener('abort', () => reject(stopped.signal.reason), { once: true });
    }),
  ]);

/** Runs the work on a system of its own, which is stopped afterwards. */
const onSystem = async (
  options: Parameters<typeof startMeasuredSystem>[0],
  work: (system: MeasuredSystem, records: Records) => Promise<void>,
): Promise<void> => {
  const system = await startMeasuredSystem(options);
  const stop = new AbortController();
  try {
    const records = await untilStopped(followRecords(system, stop.signal));
    await untilStopped(work(system, records));
  } finally {
    stop.abort();
    await system.end();
  }
};

const measureSystem = (): Promise<void> =>
  onSystem({ recorded: true }, async (system, records) => {
    print('2. Extractions through the whole system on the emulator');
    print(throughputTable(await measureThroughput(system, records)));

    print(
      `3. Usage of an extraction while others are open: ${heldOpen} run through the whole system with tasks that do not end,`,
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

const measureBacklog = (): Promise<void> =>
  onSystem({ recorded: false }, async (system, records) => {
    print(`4. Due records until they are closed. The provider takes ${providerAnswerMs} ms for each read.`);
    const drains = await measureDrain(system, records, ({ what, seconds }) =>
      console.error(`   ${what}: ${seconds.toFixed(0)} s`),
    );
    print(drainTable(drains));
    print('The emulator is one process of Python and runs a process for each consumer, on the same cores.');
  });

const main = async (): Promise<number> => {
  print(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}. The emulator runs each function as a Node process on these cores,`,
    'so times and rates are of this machine and the emulator, not of AWS.',
  );
  try {
    if (process.argv.includes('--backlog')) {
      await measureBacklog();
      return 0;
    }
    print('1. Deliveries through the handler, one at a time, against a stub of AWS in another process');
    print(webhookTable(await untilStopped(measureWebhook())));
    await measureSystem();
    return 0;
  } catch (error) {
    // Errors after Ctrl-C are its consequence.
    if (stopped.signal.aborted) return 130;
    console.error(error instanceof ExpectedFailure ? `\n${error.message}\n` : error);
    return 1;
  }
};

// Open keep-alive connections would keep the process running.
process.exit(await main());
