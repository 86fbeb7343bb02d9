import { randomUUID } from 'node:crypto';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Task } from '../../../lib/extraction/store.ts';
import type { Entry } from '../ledger/entry.ts';
import { synthesizeTemplate } from '../template.ts';
import { asOnAws } from '../units/as-on-aws.ts';
import { unitsOf } from '../units/dynamo-units.ts';
import { deployedTables, tablesOf } from '../units/tables.ts';
import { deleteItems, openItems, putItems } from './fill-open.ts';
import type { Records } from './follow-records.ts';
import type { MeasuredSystem } from './measured-system.ts';
import { holdOpen, runBatch } from './run-batch.ts';
import { lookAt, recordedSweep } from './sweep.ts';
import { type Counted, type Usage, usageOf, usagePerDue } from './usage.ts';

/** How many extractions are open while a batch is measured. */
export const levels = [10, 100, 1_000] as const;
export type Level = (typeof levels)[number];

/** So many run through the whole system, with tasks that do not end. The others are copies of their items. */
export const heldOpen = levels[0];

/** Every level is first, middle and last once, so that warm-up and growth affect all levels alike. */
const rounds = [
  [10, 100, 1_000],
  [1_000, 10, 100],
  [100, 1_000, 10],
] as const satisfies readonly (readonly Level[])[];

/**
 * Few at a time, with tasks long enough that they are linked before their first delivery. So every extraction takes the
 * same path.
 */
const batch = { size: 16, most: 4, durationMs: 1_500, held: heldOpen };
const idleSweeps = 8;
/** The records that a sweep finds due, and how often. */
const due = 8;
const dueSweeps = 3;

export type Flatness = {
  readonly level: Level;
  /** Per extraction, through the whole system. */
  readonly extraction: Usage;
  /** Per sweep that finds nothing due. */
  readonly idleSweep: Usage;
  /** Per record that a sweep finds due, its task still running. */
  readonly dueRecord: Usage;
};

type Measured = { readonly extractions: Entry[]; readonly idle: Entry[]; readonly due: Entry[] };

export const taskOf = async (
  client: DynamoDBClient,
  TableName: string,
  { taskId = '' }: Extraction,
): Promise<Task> => {
  const { Item } = await client.send(
    new GetItemCommand({ TableName, Key: marshall({ taskId }), ConsistentRead: true }),
  );
  if (Item === undefined) throw new Error(`The task ${taskId} is not linked.`);
  return unmarshall(Item) as Task;
};

const summarize = (level: Level, measured: Measured, counted: Counted): Flatness => {
  const idleSweep = usageOf(measured.idle, measured.idle.length, counted);
  const dueSweep = usageOf(measured.due, dueSweeps * rounds.length, counted);
  return {
    level,
    extraction: usageOf(measured.extractions, rounds.length * batch.size, counted),
    idleSweep,
    dueRecord: usagePerDue(dueSweep, idleSweep, due),
  };
};

/** Measures an extraction, a sweep and a due record while 10, 100 and 1,000 other extractions are open. */
export const measureFlatness = async (
  system: MeasuredSystem,
  records: Records,
): Promise<readonly Flatness[]> => {
  const client = new DynamoDBClient(system.emulator.client);
  const { ExtractionsTableName: extractions = '', TasksTableName: tasks = '' } = system.outputs;
  const held = await holdOpen(system, records, heldOpen);
  const [extraction] = held;
  if (extraction === undefined) throw new Error('Nothing is held open.');
  const task = await taskOf(client, tasks, extraction);
  const untouched = new Date(extraction.dueAt ?? '');

  const measured = new Map<Level, Measured>(
    levels.map((level) => [level, { extractions: [], idle: [], due: [] }]),
  );
  for (const order of rounds) {
    for (const level of order) {
      const into = measured.get(level);
      const items = openItems(
        { extraction, task, tables: { extractions, tasks } },
        Array.from({ length: level - heldOpen }, () => randomUUID()),
      );
      await putItems(client, items);
      const ran = await runBatch(system, records, batch);
      const other = ran.records.find(({ settledBy }) => settledBy !== 'webhook');
      if (other !== undefined) throw new Error(`${other.extractionId} was settled by ${other.settledBy}.`);
      // The held extractions' next messages, which are dropped, may arrive meanwhile.
      into?.extractions.push(...ran.entries.filter(({ trigger }) => trigger !== 'due'));
      for (let sweep = 0; sweep < idleSweeps; sweep += 1) {
        into?.idle.push(...(await recordedSweep(system, 0)));
      }
      for (let sweep = 0; sweep < dueSweeps; sweep += 1) {
        await lookAt(client, extractions, held.slice(0, due), new Date());
        into?.due.push(...(await recordedSweep(system, due)));
      }
      await lookAt(client, extractions, held.slice(0, due), untouched);
      await deleteItems(client, items);
    }
  }
  const deployed = deployedTables(tablesOf(synthesizeTemplate()), system.outputs);
  // From the first request on, because the units of a write depend on the write before it.
  const counted = { tables: deployed, units: unitsOf(system.ledger.entries(), deployed, asOnAws) };
  return [...measured].map(([level, ofLevel]) => summarize(level, ofLevel, counted));
};
