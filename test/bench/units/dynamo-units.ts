import { samples, taskTokenCharacters } from '../assumptions.ts';
import type { Call, Entry } from '../ledger/entry.ts';
import { indexUnits, readUnits, writeUnits } from './capacity.ts';
import { CannotBeCounted, type Item, itemBytes } from './item-bytes.ts';
import type { Table } from './read-table-schemas.ts';

/** The units of one request to DynamoDB. */
export type Units = {
  /** The name of the table, or of the index that was queried. */
  readonly table: string;
  /** Of the table. */
  readonly write: number;
  /** Of its indexes. */
  readonly index: number;
  readonly read: number;
  /** Of the item as it is afterwards. */
  readonly bytes: number;
};

const onAws: Item = {
  callbackToken: { S: 't'.repeat(taskTokenCharacters) },
  requestedBy: { S: samples.requestedBy },
};

/** The item with the values that AWS generates in AWS's length, because the emulator's are longer or shorter. */
const asOnAws = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, onAws[name] ?? value]));

const itemIn = (body: Call['asked'], name: string): Item | undefined => {
  const item = body?.[name] as Item | undefined;
  return item === undefined ? undefined : asOnAws(item);
};

/**
 * The units of every request to DynamoDB. It follows the items through the answers, in order: an update finds what the
 * write before it left. `tables` are by the names that requests call them.
 */
export const unitsOf = (
  entries: readonly Entry[],
  tables: ReadonlyMap<string, Table>,
): ReadonlyMap<Call, Units> => {
  const items = new Map<string, Item>();

  const count = ({ operation, statusCode, asked, answered }: Call): Units => {
    const name = String(asked?.TableName);
    const table = tables.get(name);
    if (table === undefined) throw new CannotBeCounted(`${operation}: the deployment has no table ${name}.`);
    const given = itemIn(asked, 'Item') ?? itemIn(asked, 'Key') ?? {};
    const key = `${name} ${JSON.stringify(table.keys.map((part) => given[part]))}`;
    const before = items.get(key);
    const none = { table: table.name, write: 0, index: 0, read: 0, bytes: 0 };

    const written = (after: Item | undefined): Units => {
      if (after === undefined) items.delete(key);
      else items.set(key, after);
      const index = table.indexes.reduce((sum, one) => sum + indexUnits(one, table, before, after), 0);
      return { ...none, write: writeUnits(before, after), index, bytes: itemBytes(after ?? {}) };
    };
    const read = (bytes: number): Units => ({
      ...none,
      table: String(asked?.IndexName ?? table.name),
      read: readUnits(bytes, asked?.ConsistentRead === true),
      bytes,
    });

    // A failed condition is billed as a write of the existing item.
    if (String(answered?.__type).includes('ConditionalCheckFailed')) {
      const item = itemIn(answered, 'Item') ?? before;
      return { ...none, write: writeUnits(item, undefined), bytes: itemBytes(item ?? {}) };
    }
    if (statusCode !== 200) return none;
    switch (operation) {
      case 'PutItem':
        return written(given);
      case 'UpdateItem': {
        const after = itemIn(answered, 'Attributes');
        if (after !== undefined && asked?.ReturnValues === 'ALL_NEW') return written(after);
        throw new CannotBeCounted('The answer to an UpdateItem has the whole item only with ALL_NEW.');
      }
      case 'DeleteItem':
        return written(undefined);
      case 'GetItem': {
        const item = itemIn(answered, 'Item');
        if (item !== undefined && asked?.ProjectionExpression === undefined) items.set(key, item);
        // The whole item is billed even with a projection.
        return read(itemBytes(items.get(key) ?? item ?? {}));
      }
      case 'Query': {
        const found = (answered?.Items ?? []) as readonly Item[];
        return read(found.reduce((sum, item) => sum + itemBytes(item), 0));
      }
      default:
        throw new CannotBeCounted(`${operation} is not counted here.`);
    }
  };

  const calls = entries
    .flatMap((entry) => entry.calls)
    .filter(({ service }) => service === 'dynamodb')
    .sort((one, other) => one.endedAt - other.endedAt);
  return new Map(calls.map((call) => [call, count(call)]));
};
