/**
 * `npm run bench:load`: deliveries per second through the webhook's handler, extractions per second through the whole
 * system on an emulator, and the usage of an extraction while 10, 100 and 1,000 others are open. Times and rates are of
 * this machine and the emulator, not of AWS. Counts are the same on AWS.
 */
import { cpus } from 'node:os';
import { ExpectedFailure } from '../../../infra/local/expected-failure.ts';
import { followRecords } from './follow-records.ts';
import { heldOpen, measureFlatness } from './measure-flatness.ts';
import { measureThroughput } from './measure-throughput.ts';
import { measureWebhook } from './measure-webhook.ts';
import { startMeasuredSystem } from './measured-system.ts';
import { callsTable, flatnessTable, throughputTable, webhookTable } from './tables.ts';

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

const measureSystem = async (): Promise<void> => {
  const system = await startMeasuredSystem();
  const stop = new AbortController();
  try {
    const records = await untilStopped(followRecords(system, stop.signal));
    print('2. Extractions through the whole system on the emulator');
    print(throughputTable(await untilStopped(measureThroughput(system, records))));

    print(
      `3. Usage of an extraction while others are open: ${heldOpen} run through the whole system with tasks that do not end,`,
      'the others are copies of their rows, which only a query of the index reads',
    );
    const flatness = await untilStopped(measureFlatness(system, records));
    print(flatnessTable(flatness));
    print(callsTable(flatness));
    print(
      'Units are computed from the items in requests and answers, as in npm run cost, with attributes as long as on AWS.',
      'Reads of secrets, which are per process, and calls to the provider are not included.',
    );
  } finally {
    stop.abort();
    await system.end();
  }
};

const main = async (): Promise<number> => {
  print(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}. The emulator runs each function as a Node process on these cores,`,
    'so times and rates are of this machine and the emulator, not of AWS.',
  );
  try {
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
