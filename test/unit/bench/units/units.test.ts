import { describe, expect, it, test } from 'vitest';
import { taskTokenCharacters } from '../../../bench/assumptions.ts';
import type { Call, Entry } from '../../../bench/ledger/ledger.ts';
import { indexUnits, readUnits, type Table, writeUnits } from '../../../bench/units/capacity.ts';
import { countUnits, type Units } from '../../../bench/units/count-units.ts';
import { CannotBeCounted, type Item, itemBytes } from '../../../bench/units/item-bytes.ts';

const bytes = (size: number): Item => ({ a: { S: 'x'.repeat(size - 1) } });

test.each([
  ['a name and a text, in UTF-8', { id: { S: 'añb' } }, 2 + 4],
  ['two digits of a number as a byte, and one more', { n: { N: '1797874102' } }, 1 + 5 + 1],
  ['no sign, point and zeros at the ends', { n: { N: '-1.50' } }, 1 + 1 + 1],
  [
    'three bytes for a list, and one for each element',
    { l: { L: [{ S: 'ab' }, { BOOL: true }] } },
    4 + 3 + 2,
  ],
  ['three bytes for a map, and one for each element', { m: { M: { k: { NULL: true } } } }, 4 + 1 + 1 + 1],
])('the size of an item has %s', (_, item: Item, size) => expect(itemBytes(item)).toBe(size));

test.each([
  ['a write: whole KB of the item after', writeUnits(undefined, bytes(1_024)), 1],
  ['a write: the larger item before', writeUnits(bytes(1_025), bytes(10)), 2],
  ['a write: the larger item after', writeUnits(bytes(10), bytes(2_049)), 3],
  ['a write without an item', writeUnits(undefined, undefined), 1],
  ['a consistent read of 4 KB', readUnits(4_096, true), 1],
  ['a consistent read of more', readUnits(4_097, true), 2],
  ['an eventually consistent read', readUnits(4_097, false), 1],
  ['a read of nothing', readUnits(0, false), 0.5],
])('the units of %s', (_, units, expected) => expect(units).toBe(expected));

const index = { keys: ['dueShard', 'until'], projected: ['of'] };
const table: Table = { name: 'Records', keys: ['id'], indexes: [index] };

const closed: Item = { id: { S: '1' } };
const open = (until: string, more: Item = {}): Item => ({
  ...closed,
  dueShard: { N: '3' },
  until: { S: until },
  ...more,
});

test.each([
  ['to put an entry', undefined, open('a'), 1],
  ['to delete it', open('a'), closed, 1],
  ['for another projected attribute', open('a', { of: { S: 'one' } }), open('a', { of: { S: 'two' } }), 1],
  ['for a changed key', open('a'), open('b'), 2],
  ['for an item without an entry', closed, { ...closed, more: { S: 'x' } }, 0],
  ['for unchanged keys', open('a'), open('a', { more: { S: 'x' } }), 0],
])('the units of an index %s', (_, before: Item | undefined, after: Item | undefined, units) => {
  expect(indexUnits(index, table, before, after)).toBe(units);
});

let clock = 0;
const call = (operation: string, asked: object, answered: object, statusCode = 200): Call => {
  clock += 1;
  return {
    service: 'dynamodb',
    operation,
    statusCode,
    startedAt: clock,
    endedAt: clock,
    asked: { TableName: 'records', ...asked },
    answered: { ...answered },
  };
};

const count = (...calls: readonly Call[]): readonly (Units | undefined)[] => {
  const entry = { calls } as unknown as Entry;
  const units = countUnits([entry], new Map([['records', table]]));
  return calls.map((one) => units.get(one));
};

const key = { Key: closed };
const record = (until: string, size = 10): Item => open(until, { rest: { S: 'x'.repeat(size) } });
const put = (item: Item) => call('PutItem', { Item: item }, {});
const update = (after: Item) =>
  call('UpdateItem', { ...key, ReturnValues: 'ALL_NEW' }, { Attributes: after });

describe('the units of the requests to DynamoDB', () => {
  it('follow an item from one write to the next', () => {
    expect(count(put(record('a', 1_500)), update(record('b', 10)), update(record('b', 20)))).toMatchObject([
      { write: 2, index: 1 },
      { write: 2, index: 2 },
      { write: 1, index: 0 },
    ]);
  });

  it('bill a removal as a write of the item that was there', () => {
    const remove = () => call('DeleteItem', key, {});
    expect(count(put(record('a', 1_500)), remove(), remove())).toMatchObject([
      { write: 2, index: 1 },
      { write: 2, index: 1 },
      { write: 1, index: 0 },
    ]);
  });

  it('use the item that a read found', () => {
    const read = call('GetItem', { ...key, ConsistentRead: true }, { Item: record('a', 5_000) });
    expect(count(read, update(record('a', 10)))).toMatchObject([
      { table: 'Records', read: 2, write: 0 },
      { read: 0, write: 5, index: 0 },
    ]);
  });

  it('bill a failed condition as a write of the existing item, and keep the item', () => {
    const failure = { __type: 'x#ConditionalCheckFailedException', Item: record('a', 1_500) };
    const lost = call('UpdateItem', key, failure, 400);
    expect(count(put(record('a', 1_500)), lost, update(record('a', 1_500)))).toMatchObject([
      { write: 2 },
      { write: 2, index: 0 },
      { write: 2, index: 0 },
    ]);
  });

  it('bill nothing for a refused request', () => {
    expect(count(call('UpdateItem', key, {}, 500))).toMatchObject([{ write: 0, index: 0, read: 0 }]);
  });

  it('are half for a query of an index, which is eventually consistent', () => {
    expect(count(call('Query', { IndexName: 'due' }, { Items: [] }))).toMatchObject([
      { table: 'Records', read: 0.5 },
    ]);
  });

  it("count a callback token with AWS's length", () => {
    const [short, long] = count(put(closed), put({ ...closed, callbackToken: { S: 'short' } }));
    expect(long?.bytes).toBe((short?.bytes ?? 0) + 'callbackToken'.length + taskTokenCharacters);
  });

  it.each([
    ['an update that does not return what it left', call('UpdateItem', key, {})],
    ['a table that the deployment lacks', call('GetItem', { ...key, TableName: 'other' }, {})],
    ['an unknown operation', call('TransactWriteItems', {}, {})],
    ['an unknown type', put({ id: { X: '1' } })],
  ])('are not guessed for %s', (_, one) => {
    expect(() => count(one)).toThrow(CannotBeCounted);
  });
});
