import { judgeOutcome, outcomeText } from '../../../lib/extraction/advice.ts';
import { type Extraction, entityOrProductOf, subjectFields } from '../../../lib/extraction/record.ts';
import { dollarsPerMillion } from '../../../lib/observability/dollars-per-million.ts';
import { allStatuses, type FindOptions, findExtractions, finderOf } from '../aws/find-extractions.ts';
import { callerName } from '../terminal/operator-view.ts';
import type { CommandContext } from './command-context.ts';

const kinds = ['open', 'well', 'user', 'caller', 'failed'] as const;

const kindOf = (record: Extraction): (typeof kinds)[number] =>
  record.settledAt === undefined ? 'open' : judgeOutcome(outcomeText(record));

/** How many each caller has of each bank, the most first. */
export const usageOf = (records: readonly Extraction[]) => {
  const keyOf = (record: Extraction): string =>
    JSON.stringify([record.requestedBy, record.method, entityOrProductOf(record)]);
  return [...Map.groupBy(records, keyOf).values()]
    .flatMap((some) => {
      const [first] = some;
      if (first === undefined) return [];
      const counts = kinds.map((kind) => [kind, some.filter((record) => kindOf(record) === kind).length]);
      const dollars = (some.length * dollarsPerMillion[first.method]) / 1e6;
      const { requestedBy } = first;
      const ended = Object.fromEntries(counts) as Readonly<Record<(typeof kinds)[number], number>>;
      return { requestedBy, ...subjectFields(first), extractions: some.length, ...ended, dollars };
    })
    .toSorted((one, other) => other.extractions - one.extractions);
};

const row = (caller: string, bank: string, numbers: readonly string[]): string =>
  `${caller.slice(0, 24).padEnd(24)}  ${bank.slice(0, 20).padEnd(20)}${numbers.map((one) => one.padStart(8)).join('')}`;

/** Prints how many each caller requested of each bank, how they ended, and what they cost. */
export const usage = async (asked: FindOptions, { shell, connect }: CommandContext): Promise<number> => {
  const finder = finderOf(await connect(), shell.now);
  const found = await findExtractions({ status: allStatuses, ...asked }, finder);
  shell.hint(row('CALLER', 'ENTITY', ['ALL', 'OPEN', 'WELL', 'USER', 'CALLER', 'FAILED', '$']));
  for (const one of usageOf(found.records)) {
    const numbers = [one.extractions, ...kinds.map((kind) => one[kind])].map(String);
    const bank = 'entity' in one ? one.entity : one.product;
    shell.print(row(callerName(one.requestedBy), bank, [...numbers, one.dollars.toFixed(2)]), one);
  }
  shell.hint(`${found.records.length.toLocaleString('en')} extractions. ${found.remark}`);
  return 0;
};
