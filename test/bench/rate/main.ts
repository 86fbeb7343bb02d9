/**
 * `npm run bench:rate`: requests for a provider that takes one start a second, on an emulator. `startsPerSecond` is set, and with
 * `-- --learnt` the rate is found out. `-- --requests 20` makes fewer than 240.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { extractionsClient } from '#lib/client/extractions-client.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { DEFAULT_CLIENT_ID } from '../../../sandbox/sandbox.ts';
import { limitParallelCalls } from '../../../tools/cli/operate/limit-parallel-calls.ts';
import { type LocalSystem, startLocalSystem } from '../../../tools/local/local-system.ts';
import { createRunDirectory } from '../../../tools/local/paths.ts';
import { createRunOutput } from '../../../tools/local/run-output.ts';
import { runUntilStopped } from '../../support/programs/run-until-stopped.ts';
import { bodyByCredentials } from '../benchmark-request.ts';
import { countStarts } from './count-starts.ts';

const { values } = parseArgs({
  options: { learnt: { type: 'boolean', default: false }, requests: { type: 'string', default: '240' } },
});
const size = Number(values.requests);
const perSecond = 1;

/** A start window in which half of them could start, and retries that this emulator does not double. */
const settings = {
  startWindowSeconds: '120',
  webhookWaitSeconds: '100',
  deadlineSeconds: '400',
  startRetryFirstSeconds: '5',
  startRetryEverySeconds: '5',
  sweepEveryMinutes: '60',
  ...(values.learnt ? {} : { startsPerSecond: String(perSecond) }),
};

const readRecords = async ({ emulator, outputs }: LocalSystem): Promise<readonly Extraction[]> => {
  const client = new DynamoDBClient(emulator.client);
  const records: Extraction[] = [];
  const scan = { TableName: outputs.ExtractionsTableName, ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client }, scan))
    records.push(...Items.map((item) => unmarshall(item) as Extraction));
  return records;
};

const isOpen = ({ dueShard }: Extraction): boolean => dueShard !== undefined;

await runUntilStopped(async ({ stop, atEnd }) => {
  const show = createRunOutput(process.stderr, Date.now);
  const system = await startLocalSystem({
    directory: await createRunDirectory('rate', new Date()),
    show,
    settings,
    atEnd,
    signal: stop,
    // The emulator's first processes may take over 5 s for a delivery.
    sandbox: { attemptTimeoutMs: 60_000 },
  }).finally(() => show.rest());
  const { provider } = system;
  await provider.setRestrictions(DEFAULT_CLIENT_ID, { startsPerSecond: perSecond, startsAtOnce: 1 });
  const { base, fetch } = system.api;
  // It repeats a request that is answered 5xx, as a busy machine may do.
  const client = extractionsClient({ apiUrl: base, fetch });
  const atOnce = limitParallelCalls(4);
  const began = Date.now();
  await Promise.all(
    Array.from({ length: size }, () =>
      atOnce(() => client.requestExtraction(bodyByCredentials(randomUUID()))),
    ),
  );
  console.error(`   ${size} requested in ${((Date.now() - began) / 1_000).toFixed(0)} s`);
  let records = await readRecords(system);
  while (records.some(isOpen)) {
    await delay(5_000, undefined, { signal: stop });
    records = await readRecords(system);
    const { accepted, refused } = await countStarts(provider);
    console.error(
      `   ${((Date.now() - began) / 1_000).toFixed(0)} s: ${accepted} accepted, ${refused} refused, ${records.filter(isOpen).length} open`,
    );
  }
  const endings = Object.entries(
    Object.groupBy(records, ({ status, lastProblem = '' }) => `${status} ${lastProblem}`),
  );
  const lastStart = Math.max(...records.map(({ startedAt = '' }) => Date.parse(startedAt) || 0));
  console.log(
    [
      `${size} requests, a provider that takes ${perSecond} start a second, the rate ${values.learnt ? 'learnt' : 'set'}:`,
      ...endings.map(([how, some = []]) => `${how.trim()}: ${some.length}`),
      `refused calls: ${(await countStarts(provider)).refused}`,
      `last start: ${((lastStart - began) / 1_000).toFixed(0)} s after the first request`,
    ].join('\n'),
  );
});
