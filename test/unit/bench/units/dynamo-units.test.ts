import { describe, expect, it } from 'vitest';
import type { Call, Entry } from '../../../bench/ledger/entry.ts';
import type { Table } from '../../../bench/units/capacity.ts';
import { CannotBeCounted, type Units, unitsOf } from '../../../bench/units/dynamo-units.ts';
import type { Item } from '../../../bench/units/item-bytes.ts';

const table: Table = {
  name: 'Records',
  keys: ['id'],
  indexes: [{ name: 'due', keys: ['until'] }],
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
