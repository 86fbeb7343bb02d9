import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Call, Entry } from '../ledger/entry.ts';
import { type Units, unitsOf } from '../units/dynamo-units.ts';
import { readTableSchemas } from '../units/read-table-schemas.ts';
import type { Records } from './follow-records.ts';
import { deleteItems, openItems, putItems, tablesOf, taskOf } from './open-items.ts';
import { recordedSweep, setDueAt } from './recorded-sweep.ts';
import { holdOpen, runBatch } from './run-batch.ts';
import type { MeasuredSystem } from './start-measured-system.ts';
import { type Usage, usageOf, usagePerDue } from './usage-per-extraction.ts';

/** How many extractions are open while a batch is measured. */
const levels = [10, 100, 1_000] as const;
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
const maxTries = 3;

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

const summarize = (level: Level, measured: Measured, units: ReadonlyMap<Call, Units>): Flatness => {
  const idleSweep = usageOf(measured.idle, measured.idle.length, units);
  const dueSweep = usageOf(measured.due, dueSweeps * rounds.length, units);
  return {
    level,
    extraction: usageOf(measured.extractions, rounds.length * batch.size, units),
    idleSweep,
    dueRecord: usagePerDue(dueSweep, idleSweep, due),
  };
};

/** The entries of a sweep that sends so many records. The messages of an earlier sweep may have taken some of them just before. */
const sweepOf = async (
  wanted: number,
  sweep: () => ReturnType<typeof recordedSweep>,
): Promise<readonly Entry[]> => {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const { sent, entries } = await sweep();
    if (sent === wanted) return entries;
  }
  throw new Error(`None of ${maxTries} sweeps sent the ${wanted} records that were due.`);
};

/** Measures an extraction, a sweep and a due record while 10, 100 and 1,000 other extractions are open. */
export const measureFlatness = async (
  system: MeasuredSystem,
  records: Records,
): Promise<readonly Flatness[]> => {
  const client = new DynamoDBClient(system.emulator.client);
  const tables = tablesOf(system);
  const held = await holdOpen(system, records, heldOpen);
  const [extraction] = held;
  const task = await taskOf(client, tables.tasks, extraction);
  const untouched = new Date(extraction.dueAt ?? '');

  const measured = new Map<Level, Measured>(
    levels.map((level) => [level, { extractions: [], idle: [], due: [] }]),
  );
  for (const order of rounds) {
    for (const level of order) {
      const into = measured.get(level);
      const taskIds = Array.from({ length: level - heldOpen }, () => randomUUID());
      const items = openItems({ extraction, task, tables }, taskIds);
      await putItems(client, items);
      const ran = await runBatch(system, records, batch);
      const other = ran.records.find(({ settledBy }) => settledBy !== 'webhook');
      if (other !== undefined) throw new Error(`${other.extractionId} was settled by ${other.settledBy}.`);
      // The held extractions' next messages, which are dropped, may arrive meanwhile.
      into?.extractions.push(...ran.entries.filter(({ trigger }) => trigger !== 'due'));
      for (let sweep = 0; sweep < idleSweeps; sweep += 1) {
        into?.idle.push(...(await sweepOf(0, () => recordedSweep(system))));
      }
      for (let sweep = 0; sweep < dueSweeps; sweep += 1) {
        const dueNow = () => setDueAt(client, tables.extractions, held.slice(0, due), new Date());
        into?.due.push(...(await sweepOf(due, () => dueNow().then(() => recordedSweep(system)))));
      }
      await setDueAt(client, tables.extractions, held.slice(0, due), untouched);
      await deleteItems(client, items);
    }
  }
  // From the first request on, because the units of a write depend on the write before it.
  const units = unitsOf(system.ledger.entries(), await readTableSchemas(client, system.outputs));
  return [...measured].map(([level, ofLevel]) => summarize(level, ofLevel, units));
};
