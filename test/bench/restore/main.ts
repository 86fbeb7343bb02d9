/**
 * `npm run bench:restore [-- --records <count>]`: how fast `cosecha restore` copies a backup, the processor time that it takes for a record,
 * and what follows for the runbook. A process answers as AWS would, after some milliseconds.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { ClientConfig } from '../../../tools/cli/aws/deployment.ts';
import { copyBackup, manyConnections } from '../../../tools/cli/operate/copy-backup.ts';
import { timings } from '../../support/data/extraction-fixtures.ts';
import { runUntilStopped, type StoppableRun } from '../../support/programs/run-until-stopped.ts';
import { awsAnswerMs } from '../assumptions.ts';
import { itemBytes } from '../units/item-bytes.ts';
import { backupItem } from './backup-record.ts';

const { values } = parseArgs({ options: { records: { type: 'string', default: '50000' } } });
const records = Number(values.records);

/** Of the runbook: records, and the units a second that a table takes before it grows (docs/performance.md, Ceilings). */
const runbook = { records: 120_000_000, writeUnits: 4_000, readUnits: 12_000 };

const [from, to] = ['backup', 'live'];

const startStub = async ({ atEnd, untilStopped }: StoppableRun): Promise<ClientConfig> => {
  const stub = fork(new URL('dynamo-stub.ts', import.meta.url), [String(records), String(awsAnswerMs)]);
  atEnd(async () => stub.kill());
  const [port] = await untilStopped(once(stub, 'message'));
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
  return { endpoint: `http://127.0.0.1:${port}`, region: 'eu-west-1', credentials };
};

/** Copies all records. Returns the seconds until all open ones were there, and until all, and of the processor. */
const measure = async ({ untilStopped }: StoppableRun, dynamo: DynamoDBClient) => {
  let copied = 0;
  const deps = {
    requests: { remove: async () => undefined },
    dryRun: false,
    erased: new Set<string>(),
    now: () => new Date(),
    recordRetention: timings.recordRetention,
    onRecord: () => {
      copied += 1;
      if (copied % 100_000 === 0) console.error(`${copied} of ${records}`);
    },
  };
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const seconds = () => (performance.now() - startedAt) / 1_000;
  const open = await untilStopped(copyBackup(dynamo, { from, to, isOpen: true }, deps));
  const openSeconds = seconds();
  const closed = await untilStopped(copyBackup(dynamo, { from, to, isOpen: false }, deps));
  const { user, system } = process.cpuUsage(cpuBefore);
  if (open.due + closed.closed !== records)
    throw new Error(`Not all were copied: ${JSON.stringify([open, closed])}`);
  return { open: open.due, openSeconds, seconds: seconds(), cpuSeconds: (user + system) / 1e6 };
};

await runUntilStopped(async (benchmark) => {
  const { open, openSeconds, seconds, cpuSeconds } = await measure(
    benchmark,
    manyConnections(await startStub(benchmark)),
  );

  const bytes = itemBytes(backupItem(false));
  const cpuRate = records / cpuSeconds;
  /** Of an eventually consistent scan: a unit is 8 KB. */
  const scanRate = (runbook.readUnits * 8_192) / bytes;
  const writeRate = runbook.writeUnits / Math.ceil(bytes / 1_024);
  const hoursAt = (rate: number): string => `${(runbook.records / rate / 3_600).toFixed(1)} h`;
  console.log(`
${records} records of ${bytes} bytes, ${open} of them open, answers after ${awsAnswerMs} ms, Node ${process.version}
${Math.round(records / seconds)} records a second: ${seconds.toFixed(1)} s, the open ones in the first ${openSeconds.toFixed(1)} s
${(1e6 / cpuRate).toFixed(0)} µs of the client's processor for each, so that one core copies ${Math.round(cpuRate)} a second
Calculated for ${runbook.records} records:
${hoursAt(scanRate)} for each of two scans, at ${runbook.readUnits} read units a second
${hoursAt(writeRate)} for the writes, at ${runbook.writeUnits} write units a second
${hoursAt(cpuRate)} of one core`);
});
