/**
 * `npm run bench:load`: the usage of an extraction, of a sweep, and of a due record while 10, 100 and 1,000 other extractions are
 * open, on an emulator. CPU time is of this machine. Counts are the same on AWS.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { runUntilStopped } from '../../support/programs/run-until-stopped.ts';
import type { Entry } from '../ledger/ledger.ts';
import { figure, markdownTable } from '../markdown-table.ts';
import { runExtraction, runExtractions, startMeasuredSystem } from '../measured-system.ts';
import { countUnits, readTables } from '../units/count-units.ts';
import { openExtractions } from './open-extractions.ts';
import { measures, usageOf, usageOfDue } from './usage.ts';

const levels = [10, 100, 1_000] as const;
/** So many run through the whole system, with tasks that do not end. The others are copies of their items. */
const held = levels[0];
/** Every level is first, middle and last once, so that warm-up and growth affect all alike. */
const rounds = [
  [10, 100, 1_000],
  [1_000, 10, 100],
  [100, 1_000, 10],
] as const;
/** In each round at each level, and how many records are due in a sweep that finds some. */
const [extractions, idleSweeps, dueSweeps, due] = [8, 8, 3, 8];

await runUntilStopped(async (run) => {
  const system = await startMeasuredSystem(run, {});
  for (let left = 5; left > 0; left -= 1) await runExtraction(system, 'happy');
  const open = await openExtractions(system, { count: held, due });
  const measured = new Map(
    levels.map((level) => [level, { extraction: [] as Entry[], idle: [] as Entry[], due: [] as Entry[] }]),
  );
  for (const level of rounds.flat()) {
    console.error(`   measuring with ${level} open`);
    const into = measured.get(level);
    const deleteCopies = await open.copy(level - held);
    const samples = await runExtractions(system, 'happy', extractions);
    into?.extraction.push(...samples.flatMap(({ entries }) => entries));
    for (let left = idleSweeps; left > 0; left -= 1) into?.idle.push(...(await open.sweep(0)));
    for (let left = dueSweeps; left > 0; left -= 1) into?.due.push(...(await open.sweep(due)));
    await open.endDue();
    await deleteCopies();
  }
  // From the first request on, because the units of a write depend on the write before it.
  const units = countUnits(
    system.ledger.entries(),
    await readTables(new DynamoDBClient(system.emulator.client), system.outputs),
  );
  const usages = [...measured.values()].map((ofLevel) => {
    const idle = usageOf(ofLevel.idle, rounds.length * idleSweeps, units);
    return {
      extraction: usageOf(ofLevel.extraction, rounds.length * extractions, units),
      'sweep, nothing due': idle,
      'due record of a sweep': usageOfDue(usageOf(ofLevel.due, rounds.length * dueSweeps, units), idle, due),
    };
  });
  const rows = (['extraction', 'sweep, nothing due', 'due record of a sweep'] as const).flatMap((part) =>
    measures
      .map((measure) => ({ measure, values: usages.map((usage) => usage[part][measure]) }))
      .filter(({ values }) => values.some((value) => value !== 0))
      .map(({ measure, values }) => {
        const ratio = (values.at(-1) ?? Number.NaN) / (values[0] ?? Number.NaN);
        return [part, measure, ...values.map(figure), ratio.toFixed(2)];
      }),
  );
  console.log(markdownTable([['per', '', ...levels.map((level) => `${level} open`), '1000:10'], ...rows]));
});
