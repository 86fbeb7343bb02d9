import { type Item, itemBytes } from './item-bytes.ts';

/** An index of a table, as the template has it. */
export type Index = {
  readonly name: string;
  /** Partition key first. */
  readonly keys: readonly string[];
  readonly projection: 'KEYS_ONLY' | 'INCLUDE' | 'ALL';
  /** What INCLUDE adds to the keys. */
  readonly included: readonly string[];
};

export type Table = {
  /** That people know it by. */
  readonly name: string;
  readonly keys: readonly string[];
  readonly indexes: readonly Index[];
};

const KB = 1_024;

const unitsOf = (bytes: number, step: number): number => Math.max(1, Math.ceil(bytes / step));

/** "The larger of these item sizes", before and after, in whole KB; 1 at least, also where nothing is found. */
export const writeUnits = (before: Item | undefined, after: Item | undefined): number =>
  unitsOf(Math.max(itemBytes(before ?? {}), itemBytes(after ?? {})), KB);

/** In steps of 4 KB, half of one if it is only eventually consistent. */
export const readUnits = (bytes: number, isConsistent: boolean): number =>
  unitsOf(bytes, 4 * KB) * (isConsistent ? 1 : 0.5);

/** What an index holds of an item: nothing, where it lacks one of the index's keys. */
const entryOf = (index: Index, table: Table, item: Item | undefined): Item | undefined => {
  if (item === undefined || !index.keys.every((key) => key in item)) return undefined;
  if (index.projection === 'ALL') return item;
  const names = [...index.keys, ...table.keys, ...index.included];
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));
};

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * What a write of the table costs in one of its indexes: an entry put or deleted is a write; a changed key is
 * both; another projected attribute changed is one; else nothing.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
 */
export const indexUnits = (
  index: Index,
  table: Table,
  before: Item | undefined,
  after: Item | undefined,
): number => {
  const [old, young] = [entryOf(index, table, before), entryOf(index, table, after)];
  if (old === undefined || young === undefined) {
    return old === young ? 0 : writeUnits(old, young);
  }
  const isKeySame = index.keys.every((key) => isSame(old[key], young[key]));
  if (!isKeySame) return writeUnits(old, undefined) + writeUnits(undefined, young);
  const names = [...new Set([...Object.keys(old), ...Object.keys(young)])];
  return names.every((name) => isSame(old[name], young[name])) ? 0 : writeUnits(old, young);
};
