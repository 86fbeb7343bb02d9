import { DescribeTableCommand, type DynamoDBClient, type KeySchemaElement } from '@aws-sdk/client-dynamodb';
import { requestedBy, taskTokenCharacters } from '../assumptions.ts';
import type { Call, Entry } from '../ledger/ledger.ts';
import { indexUnits, readUnits, type Table, writeUnits } from './capacity.ts';
import { CannotBeCounted, type Item, itemBytes } from './item-bytes.ts';

/** The units of one request to DynamoDB: of its table, and of the table's indexes. */
export type Units = {
  readonly table: string;
  readonly write: number;
  readonly index: number;
  readonly read: number;
  /** Of the item as it is afterwards. */
  readonly bytes: number;
};

const namesOf = (keys: readonly KeySchemaElement[] = []): readonly string[] =>
  keys.map(({ AttributeName = '' }) => AttributeName);

/** The tables of a deployment with these outputs, by the names that requests call them. */
export const readTables = async (
  client: DynamoDBClient,
  outputs: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, Table>> => {
  const read = async ([output, TableName]: readonly [string, string]) => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    const indexes = (Table?.GlobalSecondaryIndexes ?? []).map(({ IndexName, KeySchema, Projection }) => {
      if (Projection?.ProjectionType === 'ALL')
        throw new CannotBeCounted(`${IndexName} projects everything.`);
      return { keys: namesOf(KeySchema), projected: Projection?.NonKeyAttributes ?? [] };
    });
    return [
      TableName,
      { name: output.replace('TableName', ''), keys: namesOf(Table?.KeySchema), indexes },
    ] as const;
  };
  const named = Object.entries(outputs).filter(([output]) => output.endsWith('TableName'));
  return new Map(await Promise.all(named.map(read)));
};

/** The values that AWS generates, in AWS's length, because the emulator's are longer or shorter. */
const onAws: Item = {
  callbackToken: { S: 't'.repeat(taskTokenCharacters) },
  requestedBy: { S: requestedBy },
};

const itemIn = (body: Call['asked'], name: string): Item | undefined => {
  const item = body?.[name] as Item | undefined;
  if (item === undefined) return undefined;
  return Object.fromEntries(Object.entries(item).map(([key, value]) => [key, onAws[key] ?? value]));
};

/**
 * The units of every request to DynamoDB. It follows the items through the answers, in order: an update finds what the
 * write before it left. `tables` are by the names that requests call them.
 */
export const countUnits = (
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
      read: readUnits(bytes, asked?.ConsistentRead === true),
      bytes,
    });

    // A failed condition is billed as a write of the existing item.
    if (String(answered?.__type).includes('ConditionalCheckFailed')) {
      return { ...none, write: writeUnits(itemIn(answered, 'Item') ?? before, undefined) };
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
