import { describe, expect, it } from 'vitest';
import { indexUnits, readUnits, type Table, writeUnits } from '../../../bench/units/capacity.ts';
import { type Item, itemBytes } from '../../../bench/units/item-bytes.ts';

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
    indexes: [{ name: 'due', keys: ['dueShard', 'until'] }],
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

  it('are two for a changed key', () => expect(unitsIn(keysOnly, open('a'), open('b'))).toBe(2));

  it('are none for an item without an entry, or with an unchanged key', () => {
    expect(unitsIn(keysOnly, closed, { ...closed, more: { S: 'x' } })).toBe(0);
    expect(unitsIn(keysOnly, open('a'), open('a', { more: { S: 'x' } }))).toBe(0);
  });
});
