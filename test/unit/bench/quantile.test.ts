import { describe, expect, test } from 'vitest';
import { median, quantile } from '../../bench/quantile.ts';

describe('the median', () => {
  test('is the middle value, in whatever order they come', () => expect(median([9, 1, 5])).toBe(5));
  test('is the mean of the two in the middle of an even number', () => expect(median([10, 1, 2, 4])).toBe(3));
  test('is the one value where there is no other', () => expect(median([7])).toBe(7));
  test('is none where there are no values', () => expect(() => median([])).toThrow(RangeError));
});

describe('a quantile', () => {
  const values = [50, 10, 40, 30, 20];

  test('has its share of the values below it', () => {
    expect([0, 0.25, 0.75, 1].map((share) => quantile(values, share))).toEqual([10, 20, 40, 50]);
  });

  test('lies between two of them where its share does', () => expect(quantile(values, 0.9)).toBe(46));

  test('leaves the values in the order that they had', () => {
    quantile(values, 0.5);
    expect(values[0]).toBe(50);
  });
});
