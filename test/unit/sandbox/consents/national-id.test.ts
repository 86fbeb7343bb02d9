import { expect, test } from 'vitest';
import { nationalIdFrom, withDots } from '../../../sandbox/consents/national-id.ts';

test.each([
  ['11.111.111-1', '11111111-1'],
  ['11111111-1', '11111111-1'],
  ['111111111', '11111111-1'],
  ['1.000.005-K', '1000005-K'],
  ['1000005k', '1000005-K'],
  ['10.000.013-K', '10000013-K'],
  ['77.777.777-7', '77777777-7'],
])('%s is the national id %s', (text, canonical) => {
  expect(nationalIdFrom(text)).toBe(canonical);
});

test.each(['', '1', '-', '11111111-2', '11.11.1111-1', '1111.1111-1', '11111111--1', ' 11111111-1', 'K-1'])(
  '"%s" is none',
  (text) => {
    expect(nationalIdFrom(text)).toBeUndefined();
  },
);

test('a national id can be written with dots', () => {
  expect(['7-6', '1000005-K', '11111111-1'].map(withDots)).toEqual(['7-6', '1.000.005-K', '11.111.111-1']);
});
