import { describe, expect, test } from 'vitest';
import { median, quantile } from '../../bench/quantile.ts';

describe('the median', () => {
  test('is the middle value, in any order', () => expect(median([9, 1, 5])).toBe(5));
  test('is the mean of the two middle values of an even number', () => expect(median([10, 1, 2, 4])).toBe(3));
  test('throws without values', () => expect(() => median([])).toThrow(RangeError));
});

describe('a quantile', () => {
  const values = [50, 10, 40, 30, 20];

  test('has its share of the values below it', () => {
    expect([0, 0.25, 0.75, 1].map((share) => quantile(values, share))).toEqual([10, 20, 40, 50]);
  });

  test('is interpolated between two values', () => expect(quantile(values, 0.9)).toBe(46));

  test('does not reorder the values', () => {
    quantile(values, 0.5);
    expect(values[0]).toBe(50);
  });
});
