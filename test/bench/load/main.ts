/**
 * `npm run bench:load`: extractions a second through the whole system on an emulator, deliveries a second through the
 * webhook's handler, and what an extraction takes while 10, 100 and 1,000 others are open. Figures of this machine
 * and of the emulator, not of AWS; counts and ratios hold anywhere.
 */
import { cpus } from 'node:os';
import { followRecords } from './follow-records.ts';
import { heldOpen, measureFlatness } from './measure-flatness.ts';
import { measureThroughput } from './measure-throughput.ts';
import { measureWebhook } from './measure-webhook.ts';
import { startMeasuredSystem } from './measured-system.ts';
import { callsTable, flatnessTable, throughputTable, webhookTable } from './tables.ts';

const tell = (...lines: readonly string[]): void => console.log(`${lines.join('\n')}\n`);

tell(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}. The emulator runs each function as a process of Node on these cores,`,
  'so that times and rates are those of this machine and the emulator, and not of AWS.',
);

tell('Deliveries through the handler, one at a time, AWS being a stub in another process:');
tell(webhookTable(await measureWebhook()));

const system = await startMeasuredSystem();
const stop = new AbortController();
try {
  const records = await followRecords(system, stop.signal);
  tell('Extractions through the whole system on the emulator:');
  tell(throughputTable(await measureThroughput(system, records)));

  tell(
    `While others are open (${heldOpen} through the whole system, their tasks held at the provider; the rest are rows like theirs):`,
  );
  const flatness = await measureFlatness(system, records);
  tell(flatnessTable(flatness));
  tell(callsTable(flatness));
} finally {
  stop.abort();
  await system.end();
}
// What a connection kept alive would hold up.
process.exit(0);
