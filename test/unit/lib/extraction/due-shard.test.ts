import { v7 as newUuid } from 'uuid';
import { expect, test } from 'vitest';
import { extractionIdOf } from '../../../../lib/extraction/api/idempotency.ts';
import { dueShardCount, dueShardOf } from '../../../../lib/extraction/due-shard.ts';

test.each([
  ['hashed from idempotency keys', (index: number) => extractionIdOf('caller', `key-${index}`)],
  ['drawn one after the other', () => newUuid()],
])('ids %s are distributed evenly over the partitions', (_what, makeId) => {
  const counts = new Array<number>(dueShardCount).fill(0);
  for (let index = 0; index < 8_000; index += 1) {
    const shard = dueShardOf(makeId(index));
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  // 500 each on average, with a standard deviation of 22: six of them either way.
  expect(Math.min(...counts)).toBeGreaterThan(368);
  expect(Math.max(...counts)).toBeLessThan(632);
});

test('an id never changes its partition, so that every release finds existing rows', () => {
  // FNV-1a, 32 bits (published test vectors): "" is 0x811c9dc5, "a" is 0xe40c292c, "foobar" is 0xbf9cf968.
  expect(dueShardOf('')).toBe(0x811c9dc5 % 16);
  expect(dueShardOf('a')).toBe(0xe40c292c % 16);
  expect(dueShardOf('foobar')).toBe(0xbf9cf968 % 16);
});
