import { describe, expect, it, test } from 'vitest';
import type { Call, Entry } from '../../../bench/ledger/entry.ts';
import { synthesizeTemplate } from '../../../bench/template.ts';
import { indexUnits, readUnits, type Table, writeUnits } from '../../../bench/units/capacity.ts';
import { CannotBeCounted, type Units, unitsOf } from '../../../bench/units/dynamo-units.ts';
import { type Item, itemBytes } from '../../../bench/units/item-bytes.ts';
import { deployedTables, tablesOf } from '../../../bench/units/tables.ts';

const item = (bytes: number): Item => ({ a: { S: 'x'.repeat(bytes - 1) } });

describe('the size of an item', () => {
  it('is that of its names and values, in UTF-8', () => {
    expect(itemBytes({ id: { S: 'añb' } })).toBe(2 + 4);
  });

  it('counts two digits of a number as a byte, and one more', () => {
    expect(itemBytes({ n: { N: '1797874102' } })).toBe(1 + 5 + 1);
    expect(itemBytes({ n: { N: '-1.50' } })).toBe(1 + 1 + 1);
  });

  it('counts three bytes for a list or a map, and one for each of its elements', () => {
    expect(itemBytes({ l: { L: [{ S: 'ab' }, { BOOL: true }] } })).toBe(1 + 3 + (1 + 2) + (1 + 1));
    expect(itemBytes({ m: { M: { k: { NULL: true } } } })).toBe(1 + 3 + (1 + 1 + 1));
  });

  it('counts the bytes of a binary value, not its Base64', () => {
    expect(itemBytes({ b: { B: Buffer.from('1234').toString('base64') } })).toBe(1 + 4);
  });

  it('throws for an unknown type', () => {
    expect(() => itemBytes({ x: { X: '1' } })).toThrow('no attribute type X');
  });
});

describe('the units of a write', () => {
  it('are whole KB of the larger of the items before and after', () => {
    expect(writeUnits(undefined, item(1_024))).toBe(1);
    expect(writeUnits(item(1_025), item(10))).toBe(2);
    expect(writeUnits(item(10), item(2_049))).toBe(3);
  });

  it('are one without an item', () => expect(writeUnits(undefined, undefined)).toBe(1));
});

describe('the units of a read', () => {
  it('are one per 4 KB, and half as many if eventually consistent', () => {
    expect(readUnits(4_096, true)).toBe(1);
    expect(readUnits(4_097, true)).toBe(2);
    expect(readUnits(4_097, false)).toBe(1);
    expect(readUnits(0, false)).toBe(0.5);
  });
});

describe('the units of an index', () => {
  const keysOnly: Table = {
    name: 'Records',
    keys: ['id'],
    indexes: [{ name: 'due', keys: ['dueShard', 'until'], projected: ['of'] }],
  };
  const unitsIn = (table: Table, before: Item | undefined, after: Item | undefined): number =>
    table.indexes.reduce((sum, index) => sum + indexUnits(index, table, before, after), 0);
  const open = (until: string, more: Item = {}): Item => ({
    id: { S: '1' },
    dueShard: { N: '3' },
    until: { S: until },
    ...more,
  });
  const closed: Item = { id: { S: '1' } };

  it('are one to put an entry and one to delete it', () => {
    expect(unitsIn(keysOnly, undefined, open('a'))).toBe(1);
    expect(unitsIn(keysOnly, open('a'), closed)).toBe(1);
  });

  it('are one for another projected attribute', () => {
    const [one, two] = ['one', 'two'].map((of) => open('a', { of: { S: of } }));
    expect(unitsIn(keysOnly, one, two)).toBe(1);
  });

  it('are two for a changed key', () => expect(unitsIn(keysOnly, open('a'), open('b'))).toBe(2));

  it('are none for an item without an entry, or with an unchanged key', () => {
    expect(unitsIn(keysOnly, closed, { ...closed, more: { S: 'x' } })).toBe(0);
    expect(unitsIn(keysOnly, open('a'), open('a', { more: { S: 'x' } }))).toBe(0);
  });
});

const table: Table = {
  name: 'Records',
  keys: ['id'],
  indexes: [{ name: 'due', keys: ['until'], projected: [] }],
};

let clock = 0;
const call = (operation: string, asked: object, answered: object, statusCode = 200): Call => {
  clock += 1;
  return {
    ...{ service: 'dynamodb', operation, statusCode, answerBytes: 0, startedAt: clock, endedAt: clock },
    asked: { TableName: 'records', ...asked },
    answered: { ...answered },
  };
};

const entryOf = (calls: readonly Call[]): Entry => ({
  ...{ function: 'start-task', requestId: 'r', ordinal: 2, cpuMs: 5, startedAt: 0, endedAt: 1 },
  ...{ failed: false, bodyBytes: 0, calls },
});

const count = (
  calls: readonly Call[],
  asOnAws = (item: Item): Item => item,
): readonly (Units | undefined)[] => {
  const units = unitsOf([entryOf(calls)], new Map([['records', table]]), asOnAws);
  return calls.map((one) => units.get(one));
};

const key = { Key: { id: { S: '1' } } };
const record = (until: string, bytes = 10): Item => ({
  id: { S: '1' },
  until: { S: until },
  rest: { S: 'x'.repeat(bytes) },
});
const put = (item: Item) => call('PutItem', { Item: item }, {});
const update = (after: Item) =>
  call('UpdateItem', { ...key, ReturnValues: 'ALL_NEW' }, { Attributes: after });

describe('the units of the requests to DynamoDB', () => {
  it('follow an item from one write to the next', () => {
    const units = count([put(record('a', 1_500)), update(record('b', 10)), update(record('b', 20))]);
    expect(units).toMatchObject([
      { write: 2, index: 1 },
      { write: 2, index: 2 },
      { write: 1, index: 0 },
    ]);
  });

  it('bill a removal as a write of the item that was there', () => {
    const remove = () => call('DeleteItem', key, {});
    expect(count([put(record('a', 1_500)), remove(), remove()])).toMatchObject([
      { write: 2, index: 1 },
      { write: 2, index: 1 },
      { write: 1, index: 0 },
    ]);
  });

  it('use the item that a read found', () => {
    const read = call('GetItem', { ...key, ConsistentRead: true }, { Item: record('a', 5_000) });
    expect(count([read, update(record('a', 10))])).toMatchObject([
      { read: 2, write: 0 },
      { read: 0, write: 5, index: 0 },
    ]);
  });

  it('bill a failed condition as a write of the existing item, and keep the item', () => {
    const lost = call(
      'UpdateItem',
      key,
      { __type: 'x#ConditionalCheckFailedException', Item: record('a', 1_500) },
      400,
    );
    expect(count([put(record('a', 1_500)), lost, update(record('a', 1_500))])).toMatchObject([
      { write: 2 },
      { write: 2, index: 0 },
      { write: 2, index: 0 },
    ]);
  });

  it('bill nothing for a refused request', () => {
    expect(count([call('UpdateItem', key, {}, 500)])).toMatchObject([{ write: 0, index: 0, read: 0 }]);
  });

  it('are half for a query, which is eventually consistent', () => {
    expect(count([call('Query', {}, { Items: [] })])).toMatchObject([{ read: 0.5 }]);
  });

  it("count an attribute with AWS's length", () => {
    const stretch = (item: Item): Item => ({ ...item, rest: { S: 'x'.repeat(3_000) } });
    expect(count([put(record('a'))], stretch)).toMatchObject([{ write: 3 }]);
  });

  it.each([
    ['an update that does not tell what it left', call('UpdateItem', key, {})],
    ['a table that the template lacks', call('GetItem', { ...key, TableName: 'other' }, {})],
    ['an unknown operation', call('TransactWriteItems', {}, {})],
  ])('are not guessed for %s', (_, one) => {
    expect(() => count([one])).toThrow(CannotBeCounted);
  });
});

test('the tables of a deployment are those of the template, by the names in its outputs', () => {
  const names = {
    ...{ ExtractionsTableName: 'a', TasksTableName: 'b' },
    ...{ RequestsTableName: 'c', BreakersTableName: 'd' },
  };
  const outputs = { ...names, ApiUrl: 'https://api.example' };
  const tables = deployedTables(tablesOf(synthesizeTemplate()), outputs);
  expect([...tables.keys()]).toEqual(['a', 'b', 'c', 'd']);
  expect(tables.get('a')).toMatchObject({
    ...{ name: 'Extractions', keys: ['extractionId'] },
    indexes: [
      { name: 'due', keys: ['dueShard', 'dueAt'], projected: [] },
      { name: 'reference', keys: ['reference', 'requestedAt'], projected: ['requestedBy'] },
    ],
  });
  expect(tables.get('b')).toEqual({ name: 'Tasks', keys: ['taskId'], indexes: [] });
});
