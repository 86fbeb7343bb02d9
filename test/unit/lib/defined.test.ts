import { expect, test } from 'vitest';
import { defined } from '#lib/defined.ts';

test('fields that are undefined are removed, and other empty values stay', () => {
  const fields = defined({ a: undefined, b: null, c: '', d: 0, e: false });
  expect(fields).toStrictEqual({ b: null, c: '', d: 0, e: false });
});
