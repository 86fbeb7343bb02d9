import type { Call, Entry } from '../ledger/entry.ts';
import { indexUnits, readUnits, type Table, writeUnits } from './capacity.ts';
import { type Item, itemBytes } from './item-bytes.ts';

export type Units = {
  /** Of the table. */
  readonly write: number;
  /** Of its indexes. */
  readonly index: number;
  readonly read: number;
  /** Of the item as it is afterwards. */
  readonly bytes: number;
};

/** Replaces values that are shorter on the emulator than on AWS. */
export type AsOnAws = (item: Item) => Item;

/** A request whose units do not follow from its input and answer. */
export class CannotBeCounted extends Error {
  override readonly name = 'CannotBeCounted';
}

const itemIn = (body: Call['asked'], name: string): Item | undefined => body?.[name] as Item | undefined;

/**
 * The units of every request to DynamoDB. It follows the items through the answers, in order: an update finds what the
 * write before it left.
 */
export const unitsOf = (
  entries: readonly Entry[],
  tables: ReadonlyMap<string, Table>,
  asOnAws: AsOnAws,
): ReadonlyMap<Call, Units> => {
  const calls = entries
    .flatMap((entry) => entry.calls)
    .filter(({ service }) => service === 'dynamodb')
    .sort((one, other) => one.endedAt - other.endedAt);
  const items = new Map<string, Item>();
  const units = new Map<Call, Units>();

  const written = (table: Table, key: string, after: Item): Units => {
    const before = items.get(key);
    items.set(key, after);
    const index = table.indexes.reduce((sum, one) => sum + indexUnits(one, table, before, after), 0);
    return { write: writeUnits(before, after), index, read: 0, bytes: itemBytes(after) };
  };

  const count = ({ operation, statusCode, asked, answered }: Call): Units => {
    const name = String(asked?.TableName);
    const table = tables.get(name);
    if (table === undefined) throw new CannotBeCounted(`${operation}: the template has no table ${name}.`);
    const given = itemIn(asked, 'Item') ?? itemIn(asked, 'Key') ?? {};
    const key = `${name} ${JSON.stringify(table.keys.map((part) => given[part]))}`;
    const returned = (name: string): Item | undefined => {
      const item = itemIn(answered, name);
      return item === undefined ? undefined : asOnAws(item);
    };
    // A failed condition is billed as a write of the existing item.
    if (String(answered?.__type).includes('ConditionalCheckFailed')) {
      const item = returned('Item') ?? items.get(key);
      return { write: writeUnits(item, undefined), index: 0, read: 0, bytes: itemBytes(item ?? {}) };
    }
    if (statusCode !== 200) return { write: 0, index: 0, read: 0, bytes: 0 };
    switch (operation) {
      case 'PutItem':
        return written(table, key, asOnAws(given));
      case 'UpdateItem': {
        const after = returned('Attributes');
        if (after === undefined || asked?.ReturnValues !== 'ALL_NEW') {
          throw new CannotBeCounted(
            'An UpdateItem tells the item that it left with ReturnValues ALL_NEW alone.',
          );
        }
        return written(table, key, after);
      }
      case 'DeleteItem': {
        const before = items.get(key);
        items.delete(key);
        const index = table.indexes.reduce((sum, one) => sum + indexUnits(one, table, before, undefined), 0);
        return { write: writeUnits(before, undefined), index, read: 0, bytes: 0 };
      }
      case 'GetItem': {
        const item = returned('Item');
        if (item !== undefined && asked?.ProjectionExpression === undefined) items.set(key, item);
        // The whole item is billed even with a projection.
        const bytes = itemBytes(items.get(key) ?? item ?? {});
        return { write: 0, index: 0, read: readUnits(bytes, asked?.ConsistentRead === true), bytes };
      }
      case 'Query': {
        const found = (answered?.Items ?? []) as readonly Item[];
        const bytes = found.reduce((sum, item) => sum + itemBytes(item), 0);
        return { write: 0, index: 0, read: readUnits(bytes, asked?.ConsistentRead === true), bytes };
      }
      default:
        throw new CannotBeCounted(`${operation} is not counted here.`);
    }
  };

  for (const call of calls) units.set(call, count(call));
  return units;
};
