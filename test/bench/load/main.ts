/**
 * `npm run bench:load`: deliveries a second through the webhook's handler, extractions a second through the whole
 * system on an emulator, and what an extraction takes while 10, 100 and 1,000 others are open. Times and rates are
 * those of this machine and the emulator, not of AWS; counts hold anywhere. Ends what it starts.
 */
import { cpus } from 'node:os';
import { ExpectedFailure } from '../../../infra/local/expected-failure.ts';
import { followRecords } from './follow-records.ts';
import { heldOpen, measureFlatness } from './measure-flatness.ts';
import { measureThroughput } from './measure-throughput.ts';
import { measureWebhook } from './measure-webhook.ts';
import { startMeasuredSystem } from './measured-system.ts';
import { callsTable, flatnessTable, throughputTable, webhookTable } from './tables.ts';

const tell = (...lines: readonly string[]): void => console.log(`${lines.join('\n')}\n`);

const stopped = new AbortController();
// More than once: from the terminal, and from npm, which hands it on.
process.on('SIGINT', () => stopped.abort());

/** Whatever is going on, until Ctrl-C; what was begun for it is then ended by who waits here. */
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
    tell('2. Extractions through the whole system on the emulator');
    tell(throughputTable(await untilStopped(measureThroughput(system, records))));

    tell(
      `3. What one takes while others are open: ${heldOpen} went through the whole system and their tasks are held at the provider,`,
      'the rest are rows like theirs, which nothing but a query of the index ever meets',
    );
    const flatness = await untilStopped(measureFlatness(system, records));
    tell(flatnessTable(flatness));
    tell(callsTable(flatness));
    tell(
      'Units are told from the items in requests and answers, as in npm run cost, attributes as long as on AWS: those of an extraction',
      'are seen from their first write on, and a sweep reads each record right before it writes it. Reads of secrets, which are per process,',
      'and calls to the provider are left out.',
    );
  } finally {
    stop.abort();
    await system.end();
  }
};

const main = async (): Promise<number> => {
  tell(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}. The emulator runs each function as a process of Node on these cores,`,
    'so that times and rates are those of this machine and the emulator, and not of AWS.',
  );
  try {
    tell('1. Deliveries through the handler, one at a time, AWS being a stub in another process');
    tell(webhookTable(await untilStopped(measureWebhook())));
    await measureSystem();
    return 0;
  } catch (error) {
    // Ctrl-C makes whatever was going on fail: that is no failure.
    if (stopped.signal.aborted) return 130;
    console.error(error instanceof ExpectedFailure ? `\n${error.message}\n` : error);
    return 1;
  }
};

// What a connection kept alive would hold up.
process.exit(await main());
