import { expect, test } from 'vitest';
import { parseLargeJson } from '../../../../../lib/extraction/reconcile/parse-large-json.ts';

// `test/fuzz/reads` compares it with JSON.parse, which accepts any depth.
test('JSON of 10,000 levels is read, and of one more is refused', () => {
  const nested = (levels: number) => Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  expect(parseLargeJson(nested(10_000), {})).toEqual([]);
  expect(() => parseLargeJson(nested(10_001), {})).toThrow(RangeError);
});

test('what is kept of a large text is small', () => {
  const long = 'x'.repeat(10_000);
  const text = JSON.stringify({ kept: long, [long]: 1, dropped: { kept: 1 }, list: Array(100).fill(1) });
  const parts = { fields: { kept: {}, list: { items: {} } } };
  expect(parseLargeJson(Buffer.from(text), parts)).toEqual({
    kept: 'x'.repeat(128),
    list: Array(51).fill(0),
  });
});
