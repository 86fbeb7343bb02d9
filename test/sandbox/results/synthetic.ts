import { createHash } from 'node:crypto';

/** A number in [0, limit) that depends only on the words, so that results repeat. */
export const numberFrom = (limit: number, ...words: readonly string[]): number =>
  createHash('sha256').update(words.join('\n')).digest().readUInt32BE(0) % limit;

/** An account number of eleven digits. */
export const accountFrom = (...words: readonly string[]): string =>
  `001${String(numberFrom(100_000_000, 'account', ...words)).padStart(8, '0')}`;

/** An amount in Chilean pesos, which have no cents: 1,000 to 1,000,990 in tens. */
export const amountFrom = (...words: readonly string[]): number =>
  1_000 + 10 * numberFrom(100_000, 'amount', ...words);
