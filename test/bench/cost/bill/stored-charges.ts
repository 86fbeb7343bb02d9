import type { PriceName } from '../../../../tools/acceptance/checks/prices.ts';
import { callerBytes, providerBytes, resultsBytes } from '../../assumptions.ts';
import type { Retention } from '../template-facts.ts';
import type { Charge } from './charge.ts';

const gigabyte = 2 ** 30;

/** DynamoDB adds this to each item: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html */
const itemOverhead = 100;

const monthDays = 365 / 12;

/**
 * What is stored of an extraction until it expires, and what leaves AWS. `largest` has the bytes of the largest items by table,
 * `charges` what it costs otherwise. Logs are counted as they are written, although they are stored compressed.
 */
export const storedCharges = (
  largest: ReadonlyMap<string, number>,
  charges: readonly Charge[],
  { recordDays, taskDays, resultsDays, logDays }: Retention,
): readonly Charge[] => {
  const itemOf = (table: string): number => (largest.get(table) ?? 0) + itemOverhead;
  const logged = charges
    .filter(({ price }) => price === 'logKilobyte')
    .reduce((sum, { quantity }) => sum + 1_024 * quantity, 0);
  const stored = (what: string, price: PriceName, bytes: number, days: number): Charge => ({
    where: 'storage',
    what,
    price,
    quantity: (bytes / gigabyte) * (days / monthDays),
  });
  return [
    stored('record', 'tableGigabyteMonth', itemOf('Extractions'), recordDays),
    stored('backup of the record', 'backupGigabyteMonth', itemOf('Extractions'), recordDays),
    stored('item of Tasks', 'tableGigabyteMonth', itemOf('Tasks'), taskDays),
    stored('results', 'bucketGigabyteMonth', resultsBytes, resultsDays),
    stored('logs', 'logGigabyteMonth', logged, logDays),
    {
      where: 'traffic',
      what: 'results, answers to callers, requests to the provider',
      price: 'egressGigabyte',
      quantity: (resultsBytes + callerBytes + providerBytes) / gigabyte,
    },
  ];
};
