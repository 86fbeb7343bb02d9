import { type Item, itemBytes } from './item-bytes.ts';

/** An index of a table. It projects its keys, and these attributes. Partition keys come first. */
type Index = { readonly keys: readonly string[]; readonly projected: readonly string[] };

export type Table = {
  /** The name for the report. */
  readonly name: string;
  readonly keys: readonly string[];
  readonly indexes: readonly Index[];
};

const KB = 1_024;

const unitsOf = (bytes: number, step: number): number => Math.max(1, Math.ceil(bytes / step));

/** Write units: "the larger of these item sizes", before and after, in whole KB. At least 1, also without an item. */
export const writeUnits = (before: Item | undefined, after: Item | undefined): number =>
  unitsOf(Math.max(itemBytes(before ?? {}), itemBytes(after ?? {})), KB);

/** Read units: one per 4 KB, half as many if eventually consistent. */
export const readUnits = (bytes: number, isConsistent: boolean): number =>
  unitsOf(bytes, 4 * KB) * (isConsistent ? 1 : 0.5);

/** The index's entry for an item. Undefined if the item lacks one of the index's keys. */
const entryOf = (index: Index, table: Table, item: Item | undefined): Item | undefined => {
  if (item === undefined || !index.keys.every((key) => key in item)) return undefined;
  const names = [...index.keys, ...index.projected, ...table.keys];
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));
};

/**
 * The write units of an index for a write of its table: one to put or delete an entry, two to change a key, one
 * to change another projected attribute, else none.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
 */
export const indexUnits = (
  index: Index,
  table: Table,
  before: Item | undefined,
  after: Item | undefined,
): number => {
  const [old, young] = [entryOf(index, table, before), entryOf(index, table, after)];
  const isSame = (name: string): boolean => JSON.stringify(old?.[name]) === JSON.stringify(young?.[name]);
  if (index.keys.every(isSame)) return index.projected.every(isSame) ? 0 : writeUnits(old, young);
  return [old, young].reduce(
    (sum, entry) => sum + (entry === undefined ? 0 : writeUnits(undefined, entry)),
    0,
  );
};
